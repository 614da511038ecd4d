// Which rooms of src/ may import which, which must run in a browser, and which file loads the engine.
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { dirname, join, posix, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** In the order data flows: a room imports itself and rooms before it. The first folder of a path is its wing. */
const rooms = [
	"base",
	"base/files",
	"data/records",
	"data/codes",
	"data/cohort",
	"data/tasks",
	"data/simulate",
	"engine/tensor",
	"engine/runtime",
	"engine/mpi",
	"model/nn",
	"model",
	"model/train",
	"predict",
	"predict/trained",
	"predict/export",
	"predict/library",
	"predict/browser",
	"evaluate",
	"evaluate/charts",
	"evaluate/report",
	"app/server",
	"app",
];
const browserRooms = [
	"base",
	"engine/tensor",
	"model/nn",
	"model",
	"predict",
	"predict/browser",
	"evaluate/charts",
	"evaluate/report",
];
// linkedom runs anywhere, but a browser has its own document.
const nodeOnly = new Set([
	...builtinModules,
	"koffi",
	"onnxruntime-node",
	"@resvg/resvg-js",
	"linkedom",
]);

/** @typedef {{ target: string, line: number, typeOnly: boolean, lazy: boolean }} Import */
/** @typedef {{ file: string, line: number, rule: string, remedy: string }} Violation */

/** The innermost room that holds a file; its folder if that is no room. */
function roomOf(/** @type {string} */ file) {
	const folders = file.split("/").slice(0, -1);
	for (let depth = folders.length; depth > 0; depth--) {
		const room = folders.slice(0, depth).join("/");
		if (rooms.includes(room)) return room;
	}
	return folders.length > 0 ? folders.join("/") : undefined;
}
const wingOf = (/** @type {string} */ room) => room.split("/")[0] ?? room;
const isTest = (/** @type {string} */ file) => /\.test\.ts$|(^|\/)testing\//.test(file);
const isNodeOnly = (/** @type {string} */ target) =>
	target.startsWith("node:") || nodeOnly.has(target);

/** Imports as the formatter writes them: a statement at the start of a line, or a call. */
const patterns = {
	static: /^(?:import|export)\b(?<types> type)?(?:[^"';=]*\bfrom)? "(?<target>[^"]+)"/dgm,
	dynamic: /(?<types>\btypeof )?\b(?:import|require)\("(?<target>[^"]+)"\)/dg,
};

/** @returns {Import[]} */
const importsOf = (/** @type {string} */ file, /** @type {string} */ text) =>
	Object.entries(patterns).flatMap(([kind, pattern]) =>
		[...text.matchAll(pattern)].map(({ groups = {}, indices }) => {
			const { types, target = "" } = groups;
			const [start = 0] = indices?.groups?.target ?? [];
			return {
				target: target.startsWith(".")
					? posix.join(posix.dirname(file), target).replace(/\.js$/, ".ts")
					: target,
				line: text.slice(0, start).split("\n").length,
				typeOnly: types !== undefined,
				lazy: kind === "dynamic" && types === undefined,
			};
		}),
	);

/** @returns {Omit<Violation, "file" | "line"> | undefined} */
function directionFault(/** @type {string} */ from, /** @type {string} */ to) {
	if (from === to) return undefined;
	if (rooms.indexOf(to) > rooms.indexOf(from)) {
		return {
			rule: `${from} may not import ${to}, which comes after it`,
			remedy: `move what is shared up into ${from} or before it, or pass it in as an argument`,
		};
	}
	if (wingOf(from) === "engine" && wingOf(to) === "data") {
		return {
			rule: `${from} may not import ${to}: the engine knows nothing of records`,
			remedy: "take plain arrays as arguments",
		};
	}
	return undefined;
}

/**
 * @param {ReadonlyMap<string, string>} files path below src, with forward slashes, to text
 * @returns {Violation[]}
 */
export function checkRooms(files) {
	const imports = new Map([...files].map(([file, text]) => [file, importsOf(file, text)]));
	/** @type {Violation[]} */
	const violations = [];

	/**
	 * The chain by which a file loads something only Node has, as it would in a browser.
	 * @returns {string[] | undefined}
	 */
	const wayToNode = (/** @type {string} */ file, seen = new Set()) => {
		if (seen.has(file)) return undefined;
		seen.add(file);
		for (const { target, typeOnly, lazy } of imports.get(file) ?? []) {
			if (typeOnly) continue;
			if (isNodeOnly(target)) return [file, target];
			const rest = lazy ? undefined : wayToNode(target, seen);
			if (rest) return [file, ...rest];
		}
		return undefined;
	};

	for (const [file, targets] of imports) {
		const from = roomOf(file);
		if (isTest(file) || from === undefined) continue;
		if (!rooms.includes(from)) {
			violations.push({
				file,
				line: 1,
				rule: `src/${from} is not a room`,
				remedy: "move it into one, or add it to the list in scripts/check-rooms.mjs",
			});
			continue;
		}
		for (const { target, line, typeOnly, lazy } of targets) {
			const report = (/** @type {string} */ rule, /** @type {string} */ remedy) =>
				violations.push({ file, line, rule, remedy });
			if (files.has(target)) {
				const to = roomOf(target);
				const fault = to === undefined ? undefined : directionFault(from, to);
				if (to === undefined) report("src/index.ts is for users", "import the room itself");
				else if (isTest(target)) report("only tests import tests", "move it out of the test file");
				else if (fault) report(fault.rule, fault.remedy);
			}
			if (!browserRooms.includes(from) || typeOnly) continue;
			const way = isNodeOnly(target) ? [target] : lazy ? undefined : wayToNode(target);
			// A chain through another browser room is reported there.
			if (!way || way.slice(0, -1).some((step) => browserRooms.includes(roomOf(step) ?? ""))) {
				continue;
			}
			report(
				`${from} runs in browsers too and may not load ${way.join(" → ")}`,
				"pass it in as an argument, or use what browsers also have",
			);
		}
	}
	return violations;
}

/**
 * ONNX Runtime sends telemetry unless it is switched off before it loads, which one file does.
 * @param {ReadonlyMap<string, string>} files path below the repository's root to text
 * @returns {Violation[]}
 */
export function checkEngineImports(files) {
	/** @type {Violation[]} */
	const violations = [];
	for (const [file, text] of files) {
		if (file === "src/engine/runtime/onnxruntime-node.ts") continue;
		for (const { target, line, typeOnly } of importsOf(file, text)) {
			if (typeOnly || !/^onnxruntime-node($|\/)/.test(target)) continue;
			violations.push({
				file,
				line,
				rule: "only src/engine/runtime/onnxruntime-node.ts may load onnxruntime-node, with its telemetry off",
				remedy: "import that file instead",
			});
		}
	}
	return violations;
}

/** @returns {Map<string, string>} path below `root`, with forward slashes, to text */
function sourcesIn(/** @type {string} */ root, /** @type {string} */ folder) {
	const files = new Map();
	for (const name of readdirSync(join(root, folder), {
		recursive: true,
		encoding: "utf8",
	}).sort()) {
		if (!/\.(ts|tsx|mjs)$/.test(name)) continue;
		const path = join(root, folder, name);
		files.set(relative(root, path).split(sep).join("/"), readFileSync(path, "utf8"));
	}
	return files;
}

function main() {
	const root = dirname(dirname(fileURLToPath(import.meta.url)));
	const all = ["src", "scripts", "bench", "web"].flatMap((folder) => [...sourcesIn(root, folder)]);
	const inRooms = [...sourcesIn(join(root, "src"), ".")].filter(([file]) => file.endsWith(".ts"));
	const violations = [
		...checkRooms(new Map(inRooms)).map((fault) => ({ ...fault, file: `src/${fault.file}` })),
		...checkEngineImports(new Map(all)),
	];
	for (const { file, line, rule, remedy } of violations) {
		console.error(`${file}:${line}: ${rule}; ${remedy}`);
	}
	process.exitCode = violations.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
