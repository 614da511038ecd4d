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
		// Nothing goes into the page as data: its policy lets it load files of its own only.
		assetsInlineLimit: 0,
		modulePreload: { polyfill: false },
		// The engine runs in the library's worker, which loads it itself.
		rolldownOptions: { external: /^onnxruntime-web/ },
	},
});
