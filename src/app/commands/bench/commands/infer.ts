import { Command } from "commander";
import type { Io } from "../../io.js";
import { wholeNumber } from "../../option-values.js";
import { addBenchOptions, type BenchOptions, measuring } from "./measuring.js";

export interface InferOptions extends BenchOptions {
	readonly events: number;
	readonly patients: number;
	readonly repeats: number;
	readonly vocab: number;
	readonly trajectories: number;
	readonly attributed: number;
}

export function inferCommand(io: Io): Command {
	const infer = addBenchOptions(new Command("infer"), "paper-7m")
		.description(
			"Time inference with random weights: one event and one query of one patient, after 50 events\n" +
				"and after many; the scoring of many patients of 112 events each; the probabilities of ten\n" +
				"codes at 200 times along histories of about 110 events; and the attribution of a code's\n" +
				"probability to each event of a history. The last two are compared with the plain computation of the same numbers.",
		)
		.option("--events <n>", "events of the long history", wholeNumber(1, 1_000_000), 5000)
		.option("--patients <n>", "patients to score", wholeNumber(1, 1_000_000), 1000)
		.option("--repeats <n>", "predictions to time", wholeNumber(1, 1_000_000), 200)
		.option("--trajectories <n>", "patients with trajectories", wholeNumber(1, 1_000_000), 100)
		.option(
			"--attributed <n>",
			"events to attribute a probability to",
			wholeNumber(1, 100_000),
			200,
		)
		.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 200);
	measuring(
		io,
		infer,
		{
			"trajgpt bench infer --preset paper-7m --json": "print JSON",
			"trajgpt bench infer --preset paper --vocab 241": "the paper's model on the demo's codes",
		},
		async () => {
			const { benchInfer, renderInfer } = await import("../infer.js");
			return { measure: benchInfer, render: renderInfer };
		},
	);
	return infer;
}
