// Builds the browser library into a folder that a page can load: two bundles, and the engine's files.
import { copyFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { compressFiles } from "./compress.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Not bundled, because the engine's threads load the same files again. */
const engine = {
	"onnxruntime-web": "ort.wasm.min.mjs",
	"onnxruntime-web/webgpu": "ort.webgpu.min.mjs",
};
const engineFiles = [
	...Object.values(engine),
	...["mjs", "wasm"].flatMap((ending) => [
		`ort-wasm-simd-threaded.${ending}`,
		`ort-wasm-simd-threaded.asyncify.${ending}`,
	]),
];
const entries = { trajgpt: "index.ts", "trajgpt-worker": "worker.ts" };

export async function buildBrowser(/** @type {string} */ folder) {
	for (const [name, file] of Object.entries(entries)) {
		await build({
			configFile: false,
			root,
			logLevel: "warn",
			build: {
				outDir: folder,
				emptyOutDir: false,
				target: "es2022",
				minify: true,
				lib: {
					entry: join(root, "src", "predict", "browser", file),
					formats: ["es"],
					fileName: () => `${name}.js`,
				},
				rolldownOptions: {
					external: Object.keys(engine),
					output: {
						paths: Object.fromEntries(
							Object.entries(engine).map(([id, file]) => [id, `./ort/${file}`]),
						),
					},
				},
			},
		});
	}
	mkdirSync(join(folder, "ort"), { recursive: true });
	for (const file of engineFiles)
		copyFileSync(
			join(root, "node_modules", "onnxruntime-web", "dist", file),
			join(folder, "ort", file),
		);
	const made = [
		...Object.keys(entries).map((name) => `${name}.js`),
		...engineFiles.map((file) => join("ort", file)),
	];
	await compressFiles(made.map((name) => join(folder, name)));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
	await buildBrowser(process.argv[2] ?? join(root, "dist", "browser"));
