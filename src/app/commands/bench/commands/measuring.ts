import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { InputError } from "../../../../base/errors.js";
import type { Provider } from "../../../../engine/runtime/index.js";
import type { Precision } from "../../../../engine/tensor/index.js";
import { modelById } from "../../../../model/index.js";
import { examples } from "../../examples.js";
import { communicatorOf, Exit, type Io, printJson } from "../../io.js";
import { addComputeOptions, threadCount } from "../../option-values.js";

/** Options of benchmarks of a model. */
export interface BenchOptions {
	readonly preset: string;
	readonly threads: number;
	readonly provider: Provider;
	readonly precision?: Precision;
	readonly json?: true;
}

/** The options of `BenchOptions`, but for `json`. */
export function addBenchOptions(command: Command, preset: string): Command {
	const names = Object.keys(modelById("trajgpt").presets);
	command
		.option("--preset <name>", `model sizes: ${names.join(", ")}`, preset)
		.option("--threads <n>", "number of threads", threadCount, availableParallelism());
	return addComputeOptions(command);
}

/** A benchmark and how its result is printed; loaded on demand. */
interface Measurement<Options, Result> {
	measure(io: Io, options: Options): Promise<Result>;
	render(result: Result): string;
	/** Whether the result is a failure: the command then exits with 1. */
	failed?(result: Result): boolean;
}

/** Makes the command print what it measures. */
export function measuring<Options extends { readonly json?: true }, Result>(
	io: Io,
	command: Command,
	lines: Readonly<Record<string, string>>,
	load: () => Promise<Measurement<Options, Result>>,
): void {
	command
		.option("--json", "print one JSON document")
		.addHelpText("after", examples(lines))
		.action(async (options: Options) => {
			if (communicatorOf(io).size > 1 && command.name() !== "mpi")
				throw new InputError(
					`bench ${command.name()} runs in one process; start it without a launcher`,
				);
			const { measure, render, failed } = await load();
			const result = await measure(io, options);
			if (options.json) printJson(io, result);
			else io.stdout.write(render(result));
			if (failed?.(result)) throw new Exit(1);
		});
}
