import { z } from "zod";
import { type Dataset, openDataset } from "../../data/cohort/index.js";
import { type Comparison, comparisonText } from "../../evaluate/index.js";
import { evaluateCell, trainCell } from "./compare/cells.js";
import * as comparing from "./compare/run.js";
import { defineCommand } from "./define-command.js";
import { computeFields, seed, threads } from "./fields.js";
import { interruptible } from "./interruptible.js";
import { Exit, type Io, printJson, progressOf } from "./io.js";
import { datasetArgument, withDatasetWarning } from "./open-run.js";

/** Runs a comparison and prints its table. */
const printed =
	<O extends object>(
		work: (dataset: Dataset, folder: string, options: O) => Promise<Comparison>,
		pictureOf?: (folder: string) => string,
	) =>
	(
		io: Io,
		options: O & { readonly dataset: string; readonly out: string; readonly json?: true },
	): Promise<void> =>
		interruptible(
			io,
			async (signal) => {
				const { dataset, out, json } = options;
				const opened = withDatasetWarning(io, await openDataset(dataset));
				const monitored = { ...options, signal, progress: progressOf(io) };
				const comparison = await work(opened, out, monitored);
				const files = [...comparing.tableFiles(out), ...(pictureOf ? [pictureOf(out)] : [])];
				if (json) printJson(io, comparison);
				else io.stdout.write(`${comparisonText(comparison)}written: ${files.join(", ")}\n`);
				if (comparison.failed.length > 0) throw new Exit(1);
			},
			() => "stopping: every cell finishes its step and saves",
		);

export const compare = defineCommand({
	name: "compare",
	description: `Train and evaluate every model on your data, and print the paper's table.

First diagnoses (onset) are measured as AUROC and average precision within 1
and 5 years of an index day. Forecasting is measured as recall@K. Labelled
tasks are measured as AUPRC with no label (S = 0), with 5 labels and with all
labels; — marks a setting that a model lacks. The baselines are the patient's
own counts (for onset a lasso regression), code frequencies (for onset by
age and sex) and, on a simulated population, the reference model. trajgpt-plain is
TrajGPT without the gap as input and without counting heads. Pre-trained models
are fine-tuned to labels (and to forecasts, if they are encoders only); the
others learn each task from scratch, as in the paper.

Each cell (one model and one seed) runs in its own process, as many at a time
as there are cores. Finished cells are kept in OUT, so the same command resumes
after a stop or a kill. A failed cell is reported, does not stop the others,
and is retried by the same command. The table is written to
OUT/table.{json,csv,md,tex}.`,
	arguments: datasetArgument,
	options: comparing.compareFields,
	examples: {
		"trajgpt compare sim --models all --out runs/table": "every model, one seed",
		"trajgpt compare sim --models all --tasks onset --out runs/onset": "who gets what, by when",
		"trajgpt compare sim --models trajgpt,gru-d,gpt2 --tasks forecast --seeds 3 --out runs/three":
			"three models, three seeds",
		"trajgpt compare so --tasks next,forecast --depths 1,5,10 --seeds 3 --leaders trajgpt,gru-d --out runs/so":
			"three seeds for two models, one for the rest",
	},
	run: printed(comparing.compare),
});

export const ablate = defineCommand({
	name: "ablate",
	description: `Measure what each part of TrajGPT contributes: train it with parts removed or changed.

The paper's variants remove one part after another: data-dependent decay, rotation by
time (absolute positions instead), linear attention (which leaves GPT-2). The other
variants change one part of the full model: the gap as input and the counting heads, the
objective, the unit of the decay, whether the query time is known, the norm.
Time-specific and auto-regressive forecasts have separate columns.

Cells, outputs and resuming work as in compare.`,
	arguments: datasetArgument,
	options: comparing.ablateFields,
	examples: {
		"trajgpt ablate so --seeds 3 --out runs/ablation": "every variant, three seeds",
		"trajgpt ablate so --variants full,fixed-decay,absolute,gpt2 --tasks next --out runs/order":
			"next-event likelihood of the paper's variants",
	},
	run: printed(comparing.ablate),
});

export const scale = defineCommand({
	name: "scale",
	description: `Measure what more patients and larger models are worth.

Trains a model in several sizes, each on several numbers of training patients, and
evaluates all on the same test patients. Smaller sets of patients are subsets of larger
ones. With n of N patients, a model trains for up to --epochs × √(N/n) epochs, and stops
after 5 epochs without a better validation loss.

Cells, outputs and resuming work as in compare. The curves are drawn in OUT/curves.svg.`,
	arguments: datasetArgument,
	options: comparing.scaleFields,
	examples: {
		"trajgpt scale sim --train-patients 2000,8000,32000 --presets tiny,default --out runs/scale":
			"two sizes, three numbers of patients",
		"trajgpt scale sim --provider xla --batch-slots 16384 --patients 5000 --jobs 2 --out runs/scale":
			"on a GPU, evaluated on 5,000 test patients",
	},
	run: printed(comparing.scale, comparing.curvesFile),
});

/** Internal: the other commands start one process of this command per cell. */
export const compareCell = defineCommand({
	name: "compare-cell",
	description: "Train and evaluate one cell of a comparison. Started by compare and ablate.",
	arguments: {
		folder: z.string().describe("folder of the comparison"),
		id: z.string().describe("line of the table"),
		seed: seed.describe("random seed"),
	},
	options: { threads: threads.describe("number of threads"), ...computeFields() },
	async run(io, options) {
		// The parent is gone: save and end.
		process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
		try {
			const request = { ...options, progress: progressOf(io) };
			const trained = await interruptible(io, (signal) => trainCell({ ...request, signal }));
			// Evaluation saves nothing in between, so Ctrl-C ends it at once.
			await evaluateCell(request, trained);
		} finally {
			process.removeAllListeners("disconnect");
			if (process.connected) process.disconnect();
		}
	},
});
