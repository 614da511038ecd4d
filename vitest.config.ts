import { availableParallelism } from "node:os";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files that replace modules or globals, or set up WebAssembly. */
const isolated = [
	"src/app/commands/export.test.ts",
	"src/predict/export/graphs.test.ts",
	"src/base/files/replace.test.ts",
	"src/engine/runtime/web.test.ts",
];

/** Sessions open quickly except in tests of the engine. */
const alias = [
	{
		find: /^\.\/onnxruntime-node\.js$/,
		replacement: fileURLToPath(
			new URL("src/engine/runtime/testing/quick-onnxruntime.ts", import.meta.url),
		),
	},
];

/** Long tests, each in a process of its own: `npm run test:all` runs them, `npm test` does not. */
const campaigns = "**/*.campaign.test.ts";

/** The longest first, so that no worker ends long after the others. */
const slowest = [
	"scripts/torture/torture.campaign.test.ts",
	"web/src/explorer.test.ts",
	"src/app/commands/risk.test.ts",
	"src/app/commands/compare.test.ts",
	"src/app/commands/demo.test.ts",
	"src/predict/browser/page.test.ts",
	"src/app/commands/pretrain.test.ts",
	"src/app/commands/fine-tuned.test.ts",
	"src/app/commands/finetune.test.ts",
	"src/data/cohort/prepare.test.ts",
	"web/src/files/same-reading.test.ts",
];

/** In this order. */
const projects = ["campaigns", "isolated", "shared"];

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
	expect: { poll: { timeout: 60_000 } },
	alias,
} as const;

/**
 * A larger young generation: less garbage is copied. Most code runs a few times: compiled at once without optimization,
 * it is faster than interpreted.
 */
const execArgv = ["--max-semi-space-size=64", "--always-sparkplug"];

export default defineConfig({
	test: {
		// One more than cores: a worker often waits for a disk, a browser or another process.
		maxWorkers: availableParallelism() + 1,
		globalSetup: "src/base/files/testing/shared-fixture.ts",
		sequence: { sequencer: SlowestFirst },
		// Failures and a summary.
		reporters: ["minimal"],
		// The projects, and the next run, read what one of them has transformed.
		experimental: { fsModuleCache: true },
		projects: [
			{
				test: { ...common, name: "campaigns", include: [`{src,scripts,web,bench}/${campaigns}`] },
			},
			{ test: { ...common, name: "isolated", include: isolated, execArgv } },
			{
				test: {
					...common,
					name: "shared",
					include: ["{src,scripts,web}/**/*.test.ts", "bench/*.test.ts"],
					exclude: [...isolated, campaigns],
					isolate: false,
					execArgv,
				},
			},
		],
	},
});
