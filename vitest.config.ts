import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that replace modules or globals, measure the memory of their process, or set up WebAssembly. */
const isolated = [
	"src/api/model.test.ts",
	"src/cli/export.test.ts",
	"src/cli/full-disk.test.ts",
	"src/export/graphs.test.ts",
	"src/files/replace.test.ts",
	"src/records/delimited.test.ts",
	"src/records/omop/database.test.ts",
	"src/runtime/web.test.ts",
	"src/server/hostile.test.ts",
];

/** Sessions open quickly except in tests of the engine. */
const alias = [
	{
		find: /^\.\/onnxruntime-node\.js$/,
		replacement: fileURLToPath(
			new URL("src/runtime/testing/quick-onnxruntime.ts", import.meta.url),
		),
	},
];

/** The longest first, so that no worker ends long after the others. */
const slowest = [
	"scripts/torture/torture.test.ts",
	"src/cli/pretrain.test.ts",
	"web/src/explorer-views.test.ts",
	"web/src/explorer.test.ts",
	"src/cli/demo.test.ts",
	"src/cli/compare.test.ts",
	"src/browser/page.test.ts",
	"src/cli/risk.test.ts",
	"src/cli/fine-tuned.test.ts",
	"src/cli/no-telemetry.test.ts",
	"src/cli/interrupted.test.ts",
	"src/cohort/prepare.test.ts",
	"src/runtime/audit/audit.test.ts",
	"src/train/stablehlo.test.ts",
];

/** In this order. */
const projects = ["isolated", "shared"];

class SlowestFirst extends BaseSequencer {
	override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
		const place = ({ moduleId, project }: TestSpecification) => {
			const at = slowest.indexOf(relative(project.config.root, moduleId));
			// A worker that is shared ends when a file of another project is next.
			return projects.indexOf(project.name) * 1000 + (at < 0 ? slowest.length : at);
		};
		return (await super.sort(files)).sort((a, b) => place(a) - place(b));
	}
}

// Not inherited: what a project takes over from here, the command line cannot change.
const common = {
	// Processes, not threads: the native module of ONNX Runtime loads once per process.
	pool: "forks",
	// Ends what hangs, and nothing that is merely slow: a busy machine needs ten times as long as an idle one.
	testTimeout: 600_000,
	hookTimeout: 600_000,
	alias,
} as const;

export default defineConfig({
	test: {
		// One more than cores: a worker often waits for a disk, a browser or another process.
		maxWorkers: availableParallelism() + 1,
		globalSetup: "src/files/testing/shared-fixture.ts",
		sequence: { sequencer: SlowestFirst },
		// The projects, and the next run, read what one of them has transformed.
		experimental: { fsModuleCache: true },
		projects: [
			{ test: { ...common, name: "isolated", include: isolated } },
			{
				test: {
					...common,
					name: "shared",
					include: ["{src,scripts,web}/**/*.test.ts", "bench/*.test.ts"],
					exclude: isolated,
					isolate: false,
					// A larger young generation: less garbage is copied.
					execArgv: ["--max-semi-space-size=64"],
				},
			},
		],
	},
});
