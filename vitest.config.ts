import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// Processes, not threads: the native module of ONNX Runtime loads once a process.
		pool: "forks",
		include: ["{src,scripts,web}/**/*.test.ts", "bench/*.test.ts"],
		testTimeout: 30_000,
	},
});
