import { Command, Option } from "commander";
import { type Provider, precisions, providers } from "../../../../engine/runtime/index.js";
import type { Precision } from "../../../../engine/tensor/index.js";
import type { Io } from "../../io.js";
import { providerOption, threadCount, wholeNumber } from "../../option-values.js";
import type { OperationsReport } from "../operations.js";
import { measuring } from "./measuring.js";

export interface OperationsOptions {
	readonly provider: Provider | "wasm";
	readonly precision?: Precision;
	readonly threads: readonly number[];
	readonly repetitions: number;
	readonly only: readonly string[];
	readonly json?: true;
}

export function operationsCommand(io: Io): Command {
	const operations = new Command("operations")
		.description(
			"Run every operation of the graph and its gradients repeatedly, on tensors as large as in\n" +
				"training, with several numbers of threads. Every run must repeat bit for bit, and agree with\n" +
				"one thread up to rounding. Exits with 1 if an operation does not.",
		)
		.addOption(providerOption([...providers, "wasm"], "engine to check; wasm is that of browsers"))
		.addOption(
			new Option(
				"--precision <name>",
				"operands of matrix products with --provider xla (default: float32)",
			).choices(precisions),
		)
		.addOption(
			new Option("--threads <list>", "numbers of threads")
				.argParser((text) => text.split(",").map(threadCount))
				.default([1, 2, 4], "1,2,4"),
		)
		.option("--repetitions <n>", "runs per operation", wholeNumber(1, 100_000), 100)
		.addOption(
			new Option("--only <list>", "operations to check")
				.argParser((text) => text.split(","))
				.default([], "all"),
		);
	measuring<OperationsOptions, OperationsReport>(
		io,
		operations,
		{
			"trajgpt bench operations": "100 runs per operation, with 1, 2 and 4 threads",
			"trajgpt bench operations --only gather,scatterAdd --repetitions 300": "two operations",
			"trajgpt bench operations --provider xla": "an accelerator, against the CPU",
			"trajgpt bench operations --provider wasm": "the engine of the browser",
		},
		async () => {
			const { benchOperations, renderOperations } = await import("../operations.js");
			return {
				measure: benchOperations,
				render: renderOperations,
				failed: ({ failed }) => failed.length > 0,
			};
		},
	);
	return operations;
}
