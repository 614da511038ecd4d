// Benchmarks, each as a ratio to a peer in the same run where there is one.
// npm run build && node bench/main.mjs --help
import { run } from "../dist/app/commands/run.js";

const summaries = {
	step: "time one training step, against PyTorch",
	"authors-code": "time a training step of the authors' code, against ours",
	infer: "time predictions for one patient and for many",
	hazards: "time what hazards cost a training step, and risks",
	mpi: "time training steps that several processes share",
	prepare: "time prepare, against pandas",
	input: "time how fast batches are prepared for an accelerator",
	serve: "measure the service under load, over loopback",
	operations: "check that every operation is repeatable on several threads",
	models: "check that every model learns the same on another engine",
};

export const program = {
	name: "node bench/main.mjs",
	description: "Measure speed, as a ratio to a peer in the same run where there is one.",
	examples: {
		"node bench/main.mjs step": "a training step of the paper's model, against PyTorch",
		"node bench/main.mjs infer": "latency and throughput of predictions",
		"node bench/main.mjs hazards": "a training step with hazards, and risks",
		"node bench/main.mjs prepare": "prepare, against pandas",
		"node bench/main.mjs input --dataset data": "batches for an accelerator",
		"node bench/main.mjs serve": "the service under load",
		"node bench/main.mjs operations": "repeatability of every operation",
		"node bench/main.mjs models --provider xla": "every model on an accelerator, against the CPU",
	},
	commands: Object.entries(summaries).map(([name, summary]) => ({
		name,
		summary,
		divides: name === "mpi",
		load: () => import(new URL(`${name}.mjs`, import.meta.url).href),
	})),
};

if (process.argv[1] === import.meta.filename)
	process.exitCode = await run(process.argv.slice(2), process, program);
