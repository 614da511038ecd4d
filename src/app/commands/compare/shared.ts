import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { table } from "../../../base/table.js";
import { type Dataset, openDataset } from "../../../data/cohort/index.js";
import { type Comparison, differenceTables, partsOf, textRows } from "../../../evaluate/index.js";
import {
	computeFields,
	decimal,
	flag,
	namesIn,
	option,
	readBy,
	threads,
	whole,
} from "../fields.js";
import { interruptible } from "../interruptible.js";
import { Exit, type Io, printJson, progressOf } from "../io.js";
import { withDatasetWarning } from "../open-run.js";
import type { Monitoring } from "../pretrain/training.js";
import { tableFiles } from "./run.js";

/** The size of the models of compare and ablate. */
export const presetField = option(
	"name",
	"model sizes: tiny, default or paper; of TrajGPT also large and paper-7m",
	z.string().default("tiny"),
);

/** Distinct names, separated by commas. */
export const names = readBy(namesIn);

/** The same, or undefined for `all`. */
export const namesOrAll = (text: string): string[] | undefined =>
	text === "all" ? undefined : namesIn(text);

const allowedDepths = [1, 5, 10, 15];

function depthsOf(text: string): readonly number[] {
	const depths = namesIn(text).map(Number);
	if (depths.length === 0 || depths.some((depth) => !allowedDepths.includes(depth)))
		throw new InputError(`Expected some of ${allowedDepths.join(",")}.`);
	return depths;
}

/** The options that compare, ablate and scale share. */
export const comparisonFields = (command: string) => ({
	out: option(
		"folder",
		"folder for runs and tables; a folder that exists is resumed",
		z.string().default(`runs/${command}`),
	),
	epochs: option("n", "training epochs", whole(1, 100_000).default(4)),
	batchSlots: option("n", "events per pre-training batch", whole(1, 10_000_000).default(512)),
	maxLength: option(
		"n",
		"maximum events per row, in fine-tuning too",
		whole(2, 1_000_000).default(160),
	),
	learningRate: option(
		"n",
		"learning rate of every model, instead of each model's default",
		decimal(1e-12, 10).optional(),
	),
	depths: option(
		"list",
		"values of K in recall@K: some of 1,5,10,15",
		readBy(depthsOf).default([5, 10, 15]),
	),
	seeds: option("n", "number of seeds, counted from 1", whole(1, 10_000).default(1)),
	futures: option(
		"n",
		"futures that the reference model samples per patient",
		whole(1, 100_000).default(64),
	),
	patients: option(
		"n",
		"evaluate next, forecast and onset on the first n test patients only (default: all)",
		whole(1, 1_000_000_000).optional(),
	),
	slotsPerLandmark: option(
		"n",
		"events of a row per landmark of the hazards (default: 16)",
		whole(1, 10_000).optional(),
	),
	jobs: option(
		"n",
		"cells to run at the same time (default: one per core, if each gets 2 GiB)",
		threads.optional(),
	),
	...computeFields(),
	json: flag("print one JSON document"),
});

/** Runs a comparison, interruptible with Ctrl-C, prints its table, and fails if a cell failed. */
export const printComparison = (
	io: Io,
	{ dataset, out, json }: { readonly dataset: string; readonly out: string; readonly json?: true },
	work: (dataset: Dataset, monitoring: Monitoring) => Promise<Comparison>,
	pictures: readonly string[] = [],
): Promise<void> =>
	interruptible(
		io,
		async (signal) => {
			const opened = withDatasetWarning(io, await openDataset(dataset));
			const comparison = await work(opened, { signal, progress: progressOf(io) });
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
