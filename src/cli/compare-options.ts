import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import type { ComparisonOptions } from "../workflows/compare/compare.js";
import {
	namesIn,
	numberBetween,
	providerOption,
	threadCount,
	wholeNumber,
} from "./option-values.js";

/** Options that compare and ablate share. */
export interface SharedOptions extends ComparisonOptions {
	readonly out: string;
	readonly json?: true;
}

const depthsKnown = [1, 5, 10, 15];

function depths(text: string): number[] {
	const found = namesIn(text).map(Number);
	if (found.length === 0 || found.some((depth) => !depthsKnown.includes(depth)))
		throw new InvalidArgumentError(`Expected some of ${depthsKnown.join(",")}.`);
	return found;
}

export const addSharedOptions = (command: Command): Command =>
	command
		.option(
			"--out <folder>",
			"where runs and tables go; the same folder goes on",
			`runs/${command.name()}`,
		)
		.option("--preset <name>", "sizes of every model: tiny, default or paper", "tiny")
		.option("--epochs <n>", "of training", wholeNumber(1, 100_000), 4)
		.option(
			"--batch-slots <n>",
			"events in a batch of pre-training",
			wholeNumber(1, 10_000_000),
			512,
		)
		.option(
			"--max-length <n>",
			"most events of a history in a row, also in fine-tuning",
			wholeNumber(2, 1_000_000),
			160,
		)
		.option(
			"--learning-rate <n>",
			"of every model, instead of each model's own",
			numberBetween(1e-12, 10),
		)
		.option("--depths <list>", "K of recall@K, some of 1,5,10,15", depths, [5, 10, 15])
		.option("--seeds <n>", "seeds, from 1 on", wholeNumber(1, 10_000), 1)
		.option(
			"--futures <n>",
			"futures the oracle samples for each patient",
			wholeNumber(1, 100_000),
			64,
		)
		.option(
			"--jobs <n>",
			"cells beside each other; as many as there are cores, and 2 GiB for each",
			threadCount,
		)
		.addOption(providerOption("where to pre-train"))
		.option("--json", "print one JSON document");
