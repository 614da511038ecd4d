import { Command } from "commander";
import type { Io } from "../../io.js";
import { wholeNumber } from "../../option-values.js";
import { addBenchOptions, type BenchOptions, measuring } from "./measuring.js";

export interface HazardBenchOptions extends BenchOptions {
	readonly batch: number;
	readonly length: number;
	readonly steps: number;
	readonly patients: number;
	readonly vocab: number;
}

export function hazardsCommand(io: Io): Command {
	const hazards = addBenchOptions(new Command("hazards"), "paper")
		.description(
			"Time what hazards cost, with random weights: a training step with them, in turns with one\n" +
				"without (objective horizon); and the risk of every code within 1, 3, 5 and 10 years for\n" +
				"patients of 112 events each.",
		)
		.option("--batch <n>", "rows per batch", wholeNumber(1, 65_536), 16)
		.option("--length <n>", "events per row", wholeNumber(1, 1_000_000), 128)
		.option("--steps <n>", "steps to time", wholeNumber(1, 1_000_000), 20)
		.option("--patients <n>", "patients whose risks are computed", wholeNumber(1, 1_000_000), 512)
		.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 241);
	measuring(
		io,
		hazards,
		{
			"trajgpt bench hazards": "the paper's model",
			"trajgpt bench hazards --preset default --vocab 2000": "another size, and more codes",
		},
		async () => {
			const { benchHazards, renderHazards } = await import("../hazards.js");
			return { measure: benchHazards, render: renderHazards };
		},
	);
	return hazards;
}
