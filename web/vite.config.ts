import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const own = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Lets the browser load scripts while it runs the one that imports them. */
const preloadScripts: Plugin = {
	name: "preload-scripts",
	transformIndexHtml: (_html, { bundle = {} }) =>
		Object.values(bundle)
			.filter(
				(chunk) => chunk.type === "chunk" && !chunk.isEntry && !chunk.name.startsWith("model-view"),
			)
			.map(({ fileName }) => ({
				tag: "link",
				injectTo: "head" as const,
				attrs: { rel: "modulepreload", crossorigin: true, href: `./${fileName}` },
			})),
};

export default defineConfig({
	root: own("./"),
	base: "./",
	logLevel: "warn",
	plugins: [preloadScripts],
	oxc: { jsx: { runtime: "automatic" } },
	build: {
		outDir: own("../dist/web/"),
		emptyOutDir: true,
		target: "es2023",
		// No inlined data: the page's policy allows only its own files.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		// The library's worker loads the engine itself.
		rolldownOptions: { external: /^onnxruntime-web/ },
	},
});
