// Compares what commands, the service, the library, the page and training compute with what was recorded.
import { execFile, execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { runCases } from "./cases.mjs";
import { openClone } from "./clone.mjs";
import { compact, differences, masked } from "./compare.mjs";
import { trainModels } from "./models.mjs";

const help = `Usage: npm run goldens [-- options]

Runs every command, every route of the service, the verbs of the library, the page's code without a browser and a short
training of every model on two small populations and a file extract, and compares the results with those recorded in
scripts/goldens/expected: numbers to 1e-5, texts to the last digit of their numbers. Exits with 1 if something differs;
on a processor with other instructions than the one that recorded, only shows it, because its kernels round differently.

  --record        record the results instead; commit them with the change that they come from, and say why
  --parent        compare with the parent commit (the last commit, if there are changes), built and run on this machine,
                  to the last bit: also hashes of weights and exports
  --only REGEXP   compare only goldens whose name matches
  --write FILE    write all results to a JSON file, unabridged, and compare nothing
  --root FOLDER   the built clone to run (default: this one)
  --models        make only those of training, and print them
  --verbose       say how long each takes
  -h, --help      this text
`;

const { values: options } = parseArgs({
	options: {
		record: { type: "boolean", default: false },
		parent: { type: "boolean", default: false },
		only: { type: "string", default: "" },
		write: { type: "string" },
		root: { type: "string" },
		models: { type: "boolean", default: false },
		verbose: { type: "boolean", default: false },
		help: { type: "boolean", short: "h", default: false },
	},
});
const here = dirname(fileURLToPath(import.meta.url));
const expectedFolder = join(here, "expected");
const processorFile = join(expectedFolder, "processor.json");
const onlyNames = new RegExp(options.only);

/** The instructions that decide which kernels compute, and so how they round. */
const processor = `${process.arch} ${vectorInstructions()}`.trim();

const root = realpathSync(resolve(options.root ?? dirname(dirname(here))));

if (options.help) process.stdout.write(help);
else if (options.models) {
	const made = await inNewFolder(root, (clone) => trainModels(clone, onlyNames));
	process.stdout.write(JSON.stringify(made));
} else if (options.parent) reportOn(await parentDifferences());
else if (options.write !== undefined)
	writeFileSync(options.write, JSON.stringify(await results(root, true)));
else if (options.record) record(await results(root, false));
else {
	const recordedOn = JSON.parse(readFileSync(processorFile, "utf8")).processor;
	reportOn(recordedDifferences(await results(root, false)));
	if (processor !== recordedOn && process.exitCode === 1) {
		process.stdout.write(
			`goldens: recorded on ${recordedOn}, and this is ${processor}, which rounds differently: compare builds with npm run goldens -- --parent\n`,
		);
		process.exitCode = 0;
	}
}

function vectorInstructions() {
	if (process.platform !== "linux") return process.platform;
	const flags = new Set(readFileSync("/proc/cpuinfo", "utf8").split(/\s+/));
	return ["avx512f", "avx2", "sve", "asimd"].find((flag) => flags.has(flag)) ?? "";
}

/** All goldens of a built clone. Models are trained in a process of their own, at the same time. */
async function results(root, exact) {
	const training = promisify(execFile)(
		process.execPath,
		[fileURLToPath(import.meta.url), "--models", "--root", root, "--only", options.only],
		{ maxBuffer: 2 ** 28 },
	);
	const [made, { stdout }] = await Promise.all([
		inNewFolder(root, (clone, folder) => runCases(clone, folder, say)),
		training,
	]);
	const all = Object.entries({ ...made, ...JSON.parse(stdout) });
	return exact
		? Object.fromEntries(all)
		: Object.fromEntries(all.map(([name, value]) => [name, compact(masked(value, [], false))]));
}

/** Works in a new folder, and gives all goldens that it made, unabridged. */
async function inNewFolder(root, work) {
	const folder = realpathSync(mkdtempSync(join(tmpdir(), "trajgpt-goldens-")));
	const before = process.cwd();
	process.chdir(folder);
	try {
		const clone = await openClone(root, say);
		await work(clone, folder);
		return masked(Object.fromEntries(clone.goldens), [folder, root], true);
	} finally {
		process.chdir(before);
		rmSync(folder, { recursive: true });
	}
}

function say(line) {
	if (options.verbose) process.stderr.write(`${line}\n`);
}

/** The file that holds a golden. */
function fileOf(name) {
	const first = name.split(" ", 1)[0] ?? "";
	return `${["http", "library", "page", "train"].includes(first) ? first : "commands"}.json`;
}

/** One line per golden, so that a commit shows which changed. */
function record(made) {
	mkdirSync(expectedFolder, { recursive: true });
	const lines = new Map();
	for (const [name, value] of Object.entries(made)) {
		const file = fileOf(name);
		const line = `${JSON.stringify(name)}: ${JSON.stringify(value)}`;
		lines.set(file, [...(lines.get(file) ?? []), line]);
	}
	for (const [file, texts] of lines)
		writeFileSync(join(expectedFolder, file), `{\n${texts.join(",\n")}\n}\n`);
	writeFileSync(processorFile, `{ "processor": ${JSON.stringify(processor)} }\n`);
}

function recordedDifferences(made) {
	const recorded = readdirSync(expectedFolder)
		.filter((file) => join(expectedFolder, file) !== processorFile)
		.map((file) => JSON.parse(readFileSync(join(expectedFolder, file), "utf8")));
	return compared(Object.assign({}, ...recorded), made, false);
}

function compared(expected, got, exact) {
	const names = new Set([...Object.keys(expected), ...Object.keys(got)]);
	return [...names]
		.filter((name) => onlyNames.test(name))
		.flatMap((name) => differences(name, expected[name], got[name], exact));
}

/** Builds the parent commit in a worktree of its own, runs both builds, and compares them. */
async function parentDifferences() {
	const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
	const commit = git("rev-parse", git("status", "--porcelain") === "" ? "HEAD~1" : "HEAD");
	const folder = realpathSync(mkdtempSync(join(tmpdir(), "trajgpt-parent-")));
	const parent = join(folder, "clone");
	process.stderr.write(`building ${commit.slice(0, 8)} in ${parent}\n`);
	git("worktree", "add", "--detach", parent, commit);
	try {
		const lock = (root) => readFileSync(join(root, "package-lock.json"), "utf8");
		if (lock(parent) === lock(root))
			symlinkSync(join(root, "node_modules"), join(parent, "node_modules"));
		const node = (cwd, ...args) =>
			execFileSync(process.execPath, args, { cwd, stdio: ["ignore", 2, 2] });
		node(parent, join(parent, "scripts", "set-up.mjs"));
		const [expected, got] = [parent, root].map((built) => {
			const file = join(folder, `${built === parent ? "parent" : "this"}.json`);
			const script = join(built, "scripts", "goldens", "main.mjs");
			// A parent without goldens is run by this script.
			const runner = existsSync(script) ? script : fileURLToPath(import.meta.url);
			node(built, runner, "--root", built, "--write", file, "--only", options.only);
			return JSON.parse(readFileSync(file, "utf8"));
		});
		return compared(expected, got, true);
	} finally {
		git("worktree", "remove", "--force", parent);
		rmSync(folder, { recursive: true });
	}
}

function reportOn(differences) {
	const shown = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 400);
	for (const { golden, path, expected, got } of differences.slice(0, 200))
		process.stdout.write(
			`${golden}: ${path}\n  expected ${shown(expected)}\n  got      ${shown(got)}\n`,
		);
	const goldens = new Set(differences.map(({ golden }) => golden)).size;
	process.stdout.write(
		differences.length === 0
			? "goldens: no difference\n"
			: `goldens: ${differences.length} differences in ${goldens}; if they are intended, npm run goldens -- --record, and name them in the commit\n`,
	);
	process.exitCode = differences.length === 0 ? 0 : 1;
}
