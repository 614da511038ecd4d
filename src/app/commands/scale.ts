import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { curvesFile, scale } from "./compare/run.js";
import { comparisonFields, names, printComparison } from "./compare/shared.js";
import { defineCommand } from "./define-command.js";
import { namesIn, option, readBy } from "./fields.js";
import { datasetArgument } from "./open-run.js";

const description = `Measure what more patients and larger models are worth.

Trains a model in several sizes, each on several numbers of training patients, and
evaluates all on the same test patients. Smaller sets of patients are subsets of larger
ones. With n of N patients, a model trains for up to --epochs × √(N/n) epochs, and stops
after 5 epochs without a better validation loss.

Cells, outputs and resuming work as in compare. The curves are drawn in OUT/curves.svg.`;

/** Numbers of patients that increase. */
function increasingCounts(text: string): readonly number[] {
	const counts = namesIn(text).map(Number);
	const isNext = (count: number, i: number) =>
		Number.isSafeInteger(count) && count > (counts[i - 1] ?? 0);
	if (counts.length > 0 && counts.every(isNext)) return counts;
	throw new InputError("Expected whole numbers that increase, for example 2000,8000,32000.");
}

export const command = defineCommand({
	name: "scale",
	description,
	arguments: datasetArgument,
	options: {
		model: option("id", "model to train", z.string().default("trajgpt")),
		presets: option(
			"list",
			"sizes of the model (default: those of tiny,default,large that it has)",
			names.optional(),
		),
		trainPatients: option(
			"list",
			"numbers of training patients (default: 2000, 8000, 32000 … below half of them, and all)",
			readBy(increasingCounts).optional(),
		),
		tasks: option(
			"list",
			"tasks to evaluate: some of onset,next,forecast",
			names.default(["onset", "next", "forecast"]),
			{ defaultText: '"onset,next,forecast"' },
		),
		...comparisonFields("scale"),
	},
	examples: {
		"trajgpt scale sim --train-patients 2000,8000,32000 --presets tiny,default --out runs/scale":
			"two sizes, three numbers of patients",
		"trajgpt scale sim --provider xla --batch-slots 16384 --patients 5000 --jobs 2 --out runs/scale":
			"on a GPU, evaluated on 5,000 test patients",
	},
	run: (io, options) =>
		printComparison(
			io,
			options,
			(dataset, monitoring) => scale(dataset, options.out, { ...options, ...monitoring }),
			[curvesFile(options.out)],
		),
});
