import { Command, InvalidArgumentError } from "commander";
import { openDataset } from "../../data/cohort/index.js";
import { curvesFile, scale } from "./compare/run.js";
import { addSharedOptions, printComparison, type SharedOptions } from "./compare/shared.js";
import { type Io, progressOf } from "./io.js";
import { withDatasetWarning } from "./open-run.js";
import { namesIn } from "./option-values.js";

interface Options extends SharedOptions {
	readonly model: string;
	readonly presets?: string;
	readonly trainPatients?: readonly number[];
	readonly tasks: string;
}

const description = `Measure what more patients and larger models are worth.

Trains a model in several sizes, each on several numbers of training patients, and
evaluates all on the same test patients. Smaller sets of patients are subsets of larger
ones. With n of N patients, a model trains for up to --epochs × √(N/n) epochs, and stops
after 5 epochs without a better validation loss.

Cells, outputs and resuming work as in compare. The curves are drawn in OUT/curves.svg.`;

export const examples = {
	"trajgpt scale sim --train-patients 2000,8000,32000 --presets tiny,default --out runs/scale":
		"two sizes, three numbers of patients",
	"trajgpt scale sim --provider xla --batch-slots 16384 --patients 5000 --jobs 2 --out runs/scale":
		"on a GPU, evaluated on 5,000 test patients",
};

/** Numbers of patients that increase. */
function increasingCounts(text: string): number[] {
	const found = namesIn(text).map(Number);
	const isNext = (value: number, at: number) =>
		Number.isSafeInteger(value) && value > (found[at - 1] ?? 0);
	if (found.length > 0 && found.every(isNext)) return found;
	throw new InvalidArgumentError(
		"Expected whole numbers that increase, for example 2000,8000,32000.",
	);
}

export function command(io: Io): Command {
	return addSharedOptions(
		new Command("scale")
			.description(description)
			.argument("<dataset>", "dataset folder written by `trajgpt prepare`")
			.option("--model <id>", "model to train", "trajgpt")
			.option(
				"--presets <list>",
				"sizes of the model (default: those of tiny,default,large that it has)",
			)
			.option(
				"--train-patients <list>",
				"numbers of training patients (default: 2000, 8000, 32000 … below half of them, and all)",
				increasingCounts,
			)
			.option(
				"--tasks <list>",
				"tasks to evaluate: some of onset,next,forecast",
				"onset,next,forecast",
			),
	).action((folder: string, options: Options) =>
		printComparison(
			io,
			options,
			async (signal) =>
				scale(withDatasetWarning(io, await openDataset(folder)), options.out, {
					...options,
					presets: options.presets === undefined ? undefined : namesIn(options.presets),
					tasks: namesIn(options.tasks),
					...{ signal, progress: progressOf(io) },
				}),
			[curvesFile(options.out)],
		),
	);
}
