// How large the code may be: lines per room, files, and habits that make lines hard to read.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/** @typedef {Readonly<Record<string, number>>} Numbers by name */

/** Lines of production code per room, with comments and blank lines; a room's number leaves out rooms inside it. */
/** @type {Numbers} */
const budgets = {
	"src/base": 1740,
	"src/data/records": 7340,
	"src/data/codes": 820,
	"src/data/cohort": 5610,
	"src/data/tasks": 1440,
	"src/data/simulate": 2560,
	"src/engine/tensor": 4350,
	"src/engine/runtime": 2610,
	"src/engine/mpi": 360,
	"src/model": 9257,
	"src/model/nn": 1170,
	"src/model/train": 5089,
	"src/predict": 7310,
	"src/evaluate": 9190,
	"src/evaluate/charts": 4230,
	"src/evaluate/report": 2320,
	"src/app/server": 3280,
	"src/app/commands": 10_940,
	src: 250,
	"web/src": 7100,
	bench: 3050,
	scripts: 3120,
};
/** Of production code together, but for the lines of tests. */
/** @type {Numbers} */
const limits = {
	lines: 93_012,
	files: 538,
	"lines of a file": 500,
	packings: 30,
	"uses of own, found and asIs": 30,
	"import cycles": 0,
	"lines of tests": 54_290,
	"lines of a README": 25,
};

const isTest = (/** @type {string} */ file) => /\.test\.tsx?$|\/testing\/|\/fixtures\//.test(file);
const isSource = (/** @type {string} */ file) =>
	/\.(ts|tsx|mjs)$/.test(file) && /^(src|web\/src|web\/testing|scripts|bench)\//.test(file);
const isWingPage = (/** @type {string} */ file) => /^(src\/[^/]+|web)\/README\.md$/.test(file);
/** Every line ends with a newline. */
const linesIn = (/** @type {string} */ text) => text.split("\n").length - 1;
const vague = new Set(["own", "found", "asIs"]);

/** The innermost room that holds a file. */
export const roomIn = (/** @type {Numbers} */ rooms, /** @type {string} */ file) =>
	Object.keys(rooms)
		.filter((room) => file.startsWith(`${room}/`))
		.sort((a, b) => b.length - a.length)[0];

/**
 * Counts literals that are spread at once, `...{ a, b }` and `...[a, b]`, and vague names.
 * @param {string} file
 * @param {string} text
 */
export function habits(file, text) {
	const counts = { packings: 0, vague: 0 };
	const visit = (/** @type {ts.Node} */ node) => {
		if (ts.isIdentifier(node) && vague.has(node.text)) counts.vague++;
		if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) {
			let literal = node.expression;
			while (ts.isParenthesizedExpression(literal) || ts.isAsExpression(literal))
				literal = literal.expression;
			if (ts.isObjectLiteralExpression(literal) || ts.isArrayLiteralExpression(literal))
				counts.packings++;
		}
		ts.forEachChild(node, visit);
	};
	visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, false));
	return counts;
}

/**
 * Groups of files that import each other, types included.
 * @param {ReadonlyMap<string, string>} files path below the repository's root to text
 * @returns {string[][]}
 */
export function cyclesIn(files) {
	const targets = (/** @type {string} */ file) =>
		ts.preProcessFile(files.get(file) ?? "").importedFiles.flatMap(({ fileName }) => {
			const path = posix.join(posix.dirname(file), fileName);
			const sources = [path, path.replace(/\.js$/, ".ts"), path.replace(/\.js$/, ".tsx")];
			return sources.filter((source) => files.has(source));
		});
	const imported = new Map([...files.keys()].map((file) => [file, targets(file)]));
	/** All files that a file leads to. */
	const reached = new Map(
		[...imported].map(([file, direct]) => {
			const all = new Set(direct);
			for (const target of all) for (const next of imported.get(target) ?? []) all.add(next);
			return [file, all];
		}),
	);
	const groups = [...files.keys()].map((file) =>
		[...(reached.get(file) ?? [])].filter((other) => reached.get(other)?.has(file)).sort(),
	);
	const isFirst = (/** @type {string[]} */ group, /** @type {number} */ at) =>
		group.length > 1 && groups.findIndex((other) => String(other) === String(group)) === at;
	return groups.filter(isFirst);
}

/**
 * Sizes by room and by what has a limit, and what is larger than allowed.
 * @param {ReadonlyMap<string, string>} files path below the repository's root to text
 */
export function sizesOf(files, rooms = budgets, most = limits) {
	const production = new Map([...files].filter(([file]) => !isTest(file) && isSource(file)));
	const texts = [...production];
	const sum = (/** @type {readonly number[]} */ numbers) => numbers.reduce((a, b) => a + b, 0);
	const lines = texts.map(([, text]) => linesIn(text));
	const counted = texts.map(([file, text]) => habits(file, text));
	const tests = [...files].filter(([file]) => isTest(file) && isSource(file));
	const pages = [...files].filter(([file]) => isWingPage(file));
	const byRoom = Object.fromEntries(
		Object.keys(rooms).map((room) => [
			room,
			sum(texts.map(([file], at) => (roomIn(rooms, file) === room ? (lines[at] ?? 0) : 0))),
		]),
	);
	const cycles = cyclesIn(production);
	const sizes = {
		lines: sum(lines),
		files: texts.length,
		"lines of a file": Math.max(...lines),
		packings: sum(counted.map(({ packings }) => packings)),
		"uses of own, found and asIs": sum(counted.map(({ vague }) => vague)),
		"import cycles": cycles.length,
		"lines of tests": sum(tests.map(([, text]) => linesIn(text))),
		"lines of a README": Math.max(0, ...pages.map(([, text]) => linesIn(text))),
	};
	const table = [
		...Object.entries(byRoom).map(([room, size]) => ({
			name: room,
			size,
			limit: rooms[room] ?? 0,
		})),
		...Object.entries(sizes).map(([name, size]) => ({ name, size, limit: most[name] ?? 0 })),
	];
	const faults = table
		.filter(({ size, limit }) => size > limit)
		.map(({ name, size, limit }) => `${name}: ${size}, at most ${limit}`);
	const homeless = texts.filter(([file]) => roomIn(rooms, file) === undefined);
	return {
		table,
		faults: [...faults, ...homeless.map(([file]) => `${file} is in no room of the table`)],
		cycles,
	};
}

function main() {
	const root = dirname(dirname(fileURLToPath(import.meta.url)));
	const names = execFileSync(
		"git",
		["ls-files", "-co", "--exclude-standard", "src", "web", "scripts", "bench"],
		{
			cwd: root,
			encoding: "utf8",
		},
	);
	const files = names
		.trimEnd()
		.split("\n")
		.filter((file) => (isSource(file) || isWingPage(file)) && existsSync(join(root, file)));
	const { table, faults, cycles } = sizesOf(
		new Map(files.map((file) => [file, readFileSync(join(root, file), "utf8")])),
	);
	if (process.argv.includes("--print")) {
		for (const { name, size, limit } of table) console.log(`${name.padEnd(30)} ${size} / ${limit}`);
		for (const cycle of cycles) console.log(`cycle: ${cycle.join(", ")}`);
	}
	for (const fault of faults)
		console.error(
			`${fault}; make it smaller, or raise its budget in scripts/check-size.mjs and say why in the commit`,
		);
	process.exitCode = faults.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
