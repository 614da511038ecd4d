// Builds the explorer into dist/web, next to the browser library that it loads, and prints its JavaScript size.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { compressFiles } from "./compress.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** The library files that a page loads, without WebAssembly. */
const library = ["trajgpt-worker.js", "ort/ort.wasm.min.mjs", "ort/ort-wasm-simd-threaded.mjs"];

/** Kilobytes of JavaScript that a page loads, gzipped: with its figures only once they are shown. */
export function pageKilobytes(/** @type {string} */ folder, /** @type {string} */ libraryFolder) {
	const gzipped = (/** @type {string} */ path) => gzipSync(readFileSync(path)).length / 1000;
	const sum = (/** @type {string[]} */ paths) =>
		paths.reduce((total, path) => total + gzipped(path), 0);
	const assets = join(folder, "assets");
	const first = readFileSync(join(folder, "index.html"), "utf8");
	const scripts = readdirSync(assets).filter((name) => name.endsWith(".js"));
	const sumOf = (/** @type {boolean} */ isFirst) =>
		sum(
			scripts.filter((name) => first.includes(name) === isFirst).map((name) => join(assets, name)),
		);
	return {
		page: sumOf(true),
		figures: sumOf(false),
		library: sum(library.map((name) => join(libraryFolder, name))),
	};
}

export async function buildWeb(/** @type {string} */ folder) {
	await build({
		configFile: join(root, "web", "vite.config.ts"),
		build: { outDir: folder, emptyOutDir: true },
	});
	const made = readdirSync(folder, { recursive: true, encoding: "utf8" });
	await compressFiles(made.map((name) => join(folder, name)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const folder = process.argv[2] ?? join(root, "dist", "web");
	await buildWeb(folder);
	const { page, figures, library } = pageKilobytes(folder, join(dirname(folder), "browser"));
	process.stderr.write(
		`explorer: ${Math.round(page + library)} KB of JavaScript, gzipped (page ${Math.round(page)}, model and engine ${Math.round(library)}; figures, on demand, ${Math.round(figures)}; WebAssembly not counted)\n`,
	);
}
