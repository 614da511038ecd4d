// Bundles the command line into dist/bin: a process starts twice as fast from a few files as from hundreds.
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, "src");

/** Native modules, and one that starts threads from its own files. */
const external = ["@duckdb/node-bindings", "@resvg/resvg-js", "koffi", "pino"];

/** The file that loads the engine stays as it is, because a bundle would load the engine before it turns telemetry off. */
const engineFile = {
	name: "engine-file",
	enforce: /** @type {const} */ ("pre"),
	resolveId: (/** @type {string} */ id) =>
		id.endsWith("/onnxruntime-node.js")
			? { id: "../engine/runtime/onnxruntime-node.js", external: true }
			: undefined,
};

/** In a bundle too, a module finds what lies beside its own file: workers, task files, package.json. */
const ownUrls = {
	name: "own-urls",
	transform(/** @type {string} */ code, /** @type {string} */ id) {
		if (!id.startsWith(source) || !code.includes("import.meta.url")) return;
		const path = relative(source, id).replace(/\.ts$/, ".js");
		const url = `new URL(${JSON.stringify(`../${path}`)}, import.meta.url).href`;
		return code.replaceAll("import.meta.url", () => url);
	},
};

await build({
	configFile: false,
	root,
	logLevel: "warn",
	plugins: [engineFile, ownUrls],
	ssr: { noExternal: true, external },
	build: {
		ssr: true,
		outDir: join(root, "dist", "bin"),
		emptyOutDir: true,
		target: "node20",
		minify: false,
		rolldownOptions: {
			input: { trajgpt: join(source, "app", "commands", "main.ts") },
			output: { entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" },
		},
	},
});
