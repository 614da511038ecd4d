import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		// Processes, not threads: the native module of ONNX Runtime loads once a process.
		pool: "forks",
		include: ["{src,scripts,web}/**/*.test.ts", "bench/*.test.ts"],
		// The default leaves one of two cores idle.
		maxWorkers: Math.max(2, availableParallelism() - 1),
		testTimeout: 60_000,
		hookTimeout: 120_000,
	},
});
