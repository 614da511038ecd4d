// Damaged files: a command refuses them with exit 2 and a message, or answers as if they were whole.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { argvOf } from "./commands.mjs";
import { filesIn, hashesIn } from "./files.mjs";
import { faultOf, finish, start, startNode } from "./process.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("../../dist/base/random.js").Random} Random */

/**
 * @typedef {object} Target
 * @property {string} name
 * @property {"run" | "dataset" | "export" | "population" | "populationParquet" | "fhir"} source what is copied and damaged, as PLACE/copy
 * @property {string} [line] of a command; if left out, the export is read
 * @property {string} [result] below PLACE/out: compared instead of standard output
 * @property {boolean} [anyAnswer] records: damage may leave other records, which are answered too
 */

const readExport = `
const [{ readExport }, { readFile }] = await Promise.all([import(process.argv[1]), import("node:fs/promises")]);
const folder = process.argv[2];
const { createHash } = await import("node:crypto");
try {
	const { weights, vocabulary, config, manifest } = await readExport(folder, (name) => readFile(folder + "/" + name).catch(() => undefined));
	const hash = createHash("sha256");
	for (const [name, values] of Object.entries(weights)) hash.update(name).update(values);
	console.log(hash.digest("hex"), JSON.stringify([vocabulary.tokens, config, manifest.time]));
} catch (error) {
	console.error(error.name === "InputError" ? "error: " + error.message : error.stack);
	process.exitCode = error.name === "InputError" ? 2 : 1;
}`;
const exportReader = [
	...["--input-type=module", "-e", readExport],
	new URL("../../dist/predict/export/read-export.js", import.meta.url).href,
];

/** @type {readonly Target[]} */
const targets = [
	{
		name: "run: forecast",
		source: "run",
		line: "forecast PLACE/copy --input FHIR/bundle.json --json --threads 1",
	},
	{
		name: "dataset: pretrain",
		source: "dataset",
		line: "pretrain PLACE/copy --out PLACE/out TRAINING",
		result: "best/state.safetensors",
	},
	{ name: "export: read", source: "export" },
	{
		name: "csv: prepare",
		source: "population",
		line: "prepare PLACE/copy --from csv --out PLACE/out",
		anyAnswer: true,
	},
	{
		name: "run: embed",
		source: "run",
		line: "embed PLACE/copy --dataset DATASET --no-umap --threads 1",
	},
	{
		name: "run: resume",
		source: "run",
		line: "pretrain DATASET --out PLACE/copy --resume",
		anyAnswer: true,
	},
	{
		name: "run: export",
		source: "run",
		line: "export PLACE/copy --out PLACE/out",
		result: "step.onnx",
	},
	{
		name: "parquet: prepare",
		source: "populationParquet",
		line: "prepare PLACE/copy --from parquet --out PLACE/out",
		anyAnswer: true,
	},
	{
		name: "fhir: forecast",
		source: "fhir",
		line: "forecast RUN --format fhir --threads 1 --input PLACE/copy/bundle.json --json",
		anyAnswer: true,
	},
	{ name: "dataset: describe", source: "dataset", line: "describe PLACE/copy --json" },
	{
		name: "dataset: evaluate",
		source: "dataset",
		line: "evaluate PLACE/run --dataset PLACE/copy --task next --draws 20 --threads 1",
	},
	{
		name: "run: report",
		source: "run",
		line: "report PLACE/copy --dataset DATASET --threads 1",
		anyAnswer: true,
	},
];

const pick = (/** @type {Random} */ random, /** @type {readonly any[]} */ items) =>
	items[random.integer(items.length)];

/** One value of a JSON document, replaced by another of the same kind. */
function editedJson(/** @type {Random} */ random, /** @type {string} */ text) {
	const document = JSON.parse(text);
	/** @type {{ holder: any, key: string }[]} */
	const values = [];
	const visit = (/** @type {any} */ holder) => {
		for (const key of Object.keys(holder))
			if (holder[key] !== null && typeof holder[key] === "object") visit(holder[key]);
			else values.push({ holder, key });
	};
	visit(document);
	if (values.length === 0) return text;
	const { holder, key } = pick(random, values);
	const old = holder[key];
	if (typeof old === "number") holder[key] = pick(random, [old + 1, old * 2, -old - 1, 0, 1e300]);
	else if (typeof old === "boolean") holder[key] = !old;
	else {
		const other = pick(random, values);
		[holder[key], other.holder[other.key]] = [other.holder[other.key], old];
	}
	return JSON.stringify(document);
}

/** @type {Record<string, (random: Random, bytes: Buffer, other: Buffer) => Buffer | undefined>} */
const damages = {
	"flipped bit": (random, bytes) => {
		const changed = Buffer.from(bytes);
		if (changed.length > 0) {
			const at = random.integer(changed.length);
			changed[at] = /** @type {number} */ (changed[at]) ^ (1 << random.integer(8));
		}
		return changed;
	},
	truncated: (random, bytes) => bytes.subarray(0, random.integer(bytes.length + 1)),
	"zeroed block": (random, bytes) => {
		const at = random.integer(bytes.length + 1);
		return Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + 512));
	},
	"appended noise": (random, bytes) =>
		Buffer.concat([bytes, Buffer.from(Array.from({ length: 64 }, () => random.integer(256)))]),
	"another file's content": (_, __, other) => other,
	"edited value": (random, bytes) => Buffer.from(editedJson(random, bytes.toString("utf8"))),
	removed: () => undefined,
};

/** @returns {string} what was done, to which file */
function damage(/** @type {Random} */ random, /** @type {string} */ folder) {
	// Logs and pictures are many, and nothing is computed from them.
	const files = filesIn(folder).filter((name) => !/tensorboard|figures|\.md$|\.html$/.test(name));
	const name = pick(random, files);
	const path = join(folder, name);
	// What a person would edit is edited more often than it is broken.
	const edited = extname(name) === ".json" && random.uniform() < 0.4;
	const kind = edited
		? "edited value"
		: pick(
				random,
				Object.keys(damages).filter((name) => name !== "edited value"),
			);
	const other = readFileSync(join(folder, pick(random, files)));
	const changed = damages[kind]?.(random, readFileSync(path), other);
	if (changed === undefined) rmSync(path);
	else writeFileSync(path, changed);
	return `${name}, ${kind}`;
}

/**
 * Asks for an answer from a copy of the source, damaged or whole.
 * @param {Target} target @param {World} world @param {(folder: string) => void} change
 */
async function ask(target, world, change) {
	const place = mkdtempSync(join(world.folder, "asked-"));
	const folder = join(place, "copy");
	const { source, line, result } = target;
	cpSync(world[source], folder, { recursive: true });
	if (line?.includes("PLACE/run")) cpSync(world.run, join(place, "run"), { recursive: true });
	change(folder);
	const finished = await finish(
		line ? start(argvOf(world, line, place)) : startNode([...exportReader, folder]),
	);
	const answer = result
		? finished.code === 0 && hashesIn(join(place, "out")).get(result)
		: finished.stdout.replaceAll(place, "");
	rmSync(place, { recursive: true });
	return { ...finished, answer };
}

/** @type {WeakMap<World, Map<string, Promise<unknown>>>} */
const answers = new WeakMap();

/** What is answered from whole files. */
function answerOf(/** @type {World} */ world, /** @type {Target} */ target) {
	const known = answers.get(world) ?? new Map();
	answers.set(world, known);
	const make = async () => {
		const { code, answer, stderr } = await ask(target, world, () => {});
		if (code === 0) return answer;
		throw new Error(`${target.name}, undamaged: exit ${code}: ${stderr.slice(-300)}`);
	};
	const reference = known.get(target.name) ?? make();
	known.set(target.name, reference);
	return reference;
}

/** @type {import("./torture.mjs").Campaign} */
export const damagedFiles = {
	name: "damage",
	share: 25,
	lanes: 2,
	async step(world, random, number) {
		const target = /** @type {Target} */ (targets[number % targets.length]);
		const expected = target.anyAnswer ? undefined : await answerOf(world, target);
		let what = "";
		const finished = await ask(target, world, (folder) => {
			what = damage(random, folder);
		});
		let broke = faultOf(finished);
		if (!broke && finished.code === 0 && expected !== undefined && finished.answer !== expected)
			broke = "another answer, without a word";
		const outcome = finished.code === 2 ? "refused" : target.anyAnswer ? "answered" : "same answer";
		return {
			counts: { [`${target.name}, ${broke ? "broke" : outcome}`]: 1 },
			broke: broke && `${target.name} (${what}): ${broke}`,
		};
	},
};
