import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const own = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
	root: own("./"),
	base: "./",
	logLevel: "warn",
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
