import { type Command, InvalidArgumentError } from "commander";
import { table } from "../../../base/table.js";
import { type Comparison, differenceTables, partsOf, textRows } from "../../../evaluate/index.js";
import { interruptible } from "../interruptible.js";
import { Exit, type Io, printJson } from "../io.js";
import {
	addComputeOptions,
	namesIn,
	numberBetween,
	threadCount,
	wholeNumber,
} from "../option-values.js";
import { type ComparisonOptions, tableFiles } from "./run.js";

/** Options that compare, ablate and scale share. */
export interface SharedOptions extends ComparisonOptions {
	readonly out: string;
	readonly json?: true;
}

/** The sizes of the models of compare and ablate. */
export const addPreset = (command: Command): Command =>
	command.option(
		"--preset <name>",
		"model sizes: tiny, default or paper; of TrajGPT also large and paper-7m",
		"tiny",
	);

const allowedDepths = [1, 5, 10, 15];

function depths(text: string): number[] {
	const found = namesIn(text).map(Number);
	if (found.length === 0 || found.some((depth) => !allowedDepths.includes(depth)))
		throw new InvalidArgumentError(`Expected some of ${allowedDepths.join(",")}.`);
	return found;
}

export const addSharedOptions = (command: Command): Command => {
	command
		.option(
			"--out <folder>",
			"folder for runs and tables; a folder that exists is resumed",
			`runs/${command.name()}`,
		)
		.option("--epochs <n>", "training epochs", wholeNumber(1, 100_000), 4)
		.option("--batch-slots <n>", "events per pre-training batch", wholeNumber(1, 10_000_000), 512)
		.option(
			"--max-length <n>",
			"maximum events per row, in fine-tuning too",
			wholeNumber(2, 1_000_000),
			160,
		)
		.option(
			"--learning-rate <n>",
			"learning rate of every model, instead of each model's default",
			numberBetween(1e-12, 10),
		)
		.option("--depths <list>", "values of K in recall@K: some of 1,5,10,15", depths, [5, 10, 15])
		.option("--seeds <n>", "number of seeds, counted from 1", wholeNumber(1, 10_000), 1)
		.option(
			"--futures <n>",
			"futures that the reference model samples per patient",
			wholeNumber(1, 100_000),
			64,
		)
		.option(
			"--patients <n>",
			"evaluate next, forecast and onset on the first n test patients only (default: all)",
			wholeNumber(1, 1_000_000_000),
		)
		.option(
			"--slots-per-landmark <n>",
			"events of a row per landmark of the hazards (default: 16)",
			wholeNumber(1, 10_000),
		)
		.option(
			"--jobs <n>",
			"cells to run at the same time (default: one per core, if each gets 2 GiB)",
			threadCount,
		);
	return addComputeOptions(command).option("--json", "print one JSON document");
};

/** Runs a comparison, interruptible with Ctrl-C, prints its table, and fails if a cell failed. */
export const printComparison = (
	io: Io,
	{ out, json }: { readonly out: string; readonly json?: true },
	work: (signal: AbortSignal) => Promise<Comparison>,
	pictures: readonly string[] = [],
): Promise<void> =>
	interruptible(
		io,
		async (signal) => {
			const comparison = await work(signal);
			if (json) printJson(io, comparison);
			else io.stdout.write(comparisonText([...tableFiles(out), ...pictures], comparison));
			if (comparison.failed.length > 0) throw new Exit(1);
		},
		() => "stopping: every cell finishes its step and saves",
	);

function comparisonText(files: readonly string[], comparison: Comparison): string {
	const parts = partsOf(comparison);
	const linesOf = (part: Comparison) => {
		const { header, rows } = textRows(part);
		return table(header[0], [header[1], ...rows]);
	};
	return [
		parts.map(linesOf).join("\n"),
		"\n±: half the width of the 95 % interval over patients; the files have both ends.\n",
		...parts
			.flatMap(differenceTables)
			.map(({ title, header, rows }) => `\n${title}\n\n${table(header, rows)}`),
		"\n",
		...comparison.notes.map((note) => `${note}\n`),
		...comparison.failed.map(({ label, reason }) => `${label} failed: ${reason}\n`),
		`written: ${files.join(", ")}\n`,
	].join("");
}
