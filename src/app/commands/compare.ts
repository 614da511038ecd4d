import { z } from "zod";
import { lineNames } from "./compare/lines.js";
import { compare } from "./compare/run.js";
import {
	comparisonFields,
	names,
	namesOrAll,
	presetField,
	printComparison,
} from "./compare/shared.js";
import { defineCommand } from "./define-command.js";
import { option, whole } from "./fields.js";
import { datasetArgument } from "./open-run.js";

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

export const command = defineCommand({
	name: "compare",
	description,
	arguments: datasetArgument,
	options: {
		preset: presetField,
		models: option(
			"list",
			`models to train: all, or some of ${lineNames.join(",")}`,
			z.string().default("all"),
		),
		tasks: option(
			"list",
			"tasks to evaluate: some of onset,next,forecast and the dataset's labels (default: all but next and chf-paper)",
			names.optional(),
		),
		...comparisonFields("compare"),
		tuningSlots: option(
			"n",
			"events per batch of fine-tuning to labels (default: 2048)",
			whole(1, 10_000_000).optional(),
		),
		tuningSteps: option(
			"n",
			"most steps of a fine-tuning, but at least one epoch (default: no limit)",
			whole(1, 1_000_000_000).optional(),
		),
		leaders: option(
			"list",
			"models that run with every seed; the others run with the first only",
			names.optional(),
		),
	},
	examples: {
		"trajgpt compare sim --models all --out runs/table": "every model, one seed",
		"trajgpt compare sim --models all --tasks onset --out runs/onset": "who gets what, by when",
		"trajgpt compare sim --models trajgpt,gru-d,gpt2 --tasks forecast --seeds 3 --out runs/three":
			"three models, three seeds",
		"trajgpt compare so --tasks next,forecast --depths 1,5,10 --seeds 3 --leaders trajgpt,gru-d --out runs/so":
			"three seeds for two models, one for the rest",
	},
	run: (io, options) =>
		printComparison(io, options, (dataset, monitoring) =>
			compare(dataset, options.out, {
				...options,
				...monitoring,
				models: namesOrAll(options.models),
			}),
		),
});
