import { Command } from "commander";
import { openDataset } from "../../data/cohort/index.js";
import { lineNames } from "./compare/lines.js";
import { compare } from "./compare/run.js";
import {
	addPreset,
	addSharedOptions,
	printComparison,
	type SharedOptions,
} from "./compare/shared.js";
import { type Io, progressOf } from "./io.js";
import { withDatasetWarning } from "./open-run.js";
import { namesIn, namesOrAll, wholeNumber } from "./option-values.js";

interface Options extends SharedOptions {
	readonly preset: string;
	readonly models: string;
	readonly tasks?: string;
	readonly leaders?: string;
}

const description = `Train and evaluate every model on your data, and print the paper's table.

First diagnoses (onset) are measured as AUROC and average precision within 1
and 5 years of an index day. Forecasting is measured as recall@K. Labelled
tasks are measured as AUPRC with no label (S = 0), with 5 labels and with all
labels; — marks a setting that a model lacks. The baselines are the patient's
own counts (for onset a regression per code), code frequencies (for onset by
age and sex) and, on a simulated population, the reference model. trajgpt-plain is
TrajGPT without the gap as input and without counting heads. Pre-trained models
are fine-tuned to labels (and to forecasts, if they are encoders only); the
others learn each task from scratch, as in the paper.

Each cell (one model and one seed) runs in its own process, as many at a time
as there are cores. Finished cells are kept in OUT, so the same command resumes
after a stop or a kill. A failed cell is reported, does not stop the others,
and is retried by the same command. The table is written to
OUT/table.{json,csv,md,tex}.`;

export const examples = {
	"trajgpt compare sim --models all --out runs/table": "every model, one seed",
	"trajgpt compare sim --models all --tasks onset --out runs/onset": "who gets what, by when",
	"trajgpt compare sim --models trajgpt,gru-d,gpt2 --tasks forecast --seeds 3 --out runs/three":
		"three models, three seeds",
	"trajgpt compare so --tasks next,forecast --depths 1,5,10 --seeds 3 --leaders trajgpt,gru-d --out runs/so":
		"three seeds for two models, one for the rest",
};

export function command(io: Io): Command {
	return addSharedOptions(
		addPreset(
			new Command("compare")
				.description(description)
				.argument("<dataset>", "dataset folder written by `trajgpt prepare`"),
		)
			.option("--models <list>", `models to train: all, or some of ${lineNames.join(",")}`, "all")
			.option(
				"--tasks <list>",
				"tasks to evaluate: some of onset,next,forecast and the dataset's labels (default: all but next and chf-paper)",
			),
	)
		.option(
			"--tuning-slots <n>",
			"events per batch of fine-tuning to labels (default: 2048)",
			wholeNumber(1, 10_000_000),
		)
		.option(
			"--tuning-steps <n>",
			"most steps of a fine-tuning, but at least one epoch (default: no limit)",
			wholeNumber(1, 1_000_000_000),
		)
		.option(
			"--leaders <list>",
			"models that run with every seed; the others run with the first only",
		)
		.action((folder: string, options: Options) =>
			printComparison(io, options, async (signal) =>
				compare(withDatasetWarning(io, await openDataset(folder)), options.out, {
					...options,
					models: namesOrAll(options.models),
					tasks: options.tasks ? namesIn(options.tasks) : undefined,
					leaders: options.leaders === undefined ? undefined : namesIn(options.leaders),
					...{ signal, progress: progressOf(io) },
				}),
			),
		);
}
