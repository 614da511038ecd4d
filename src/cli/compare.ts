import { Command } from "commander";
import { openDataset } from "../cohort/index.js";
import { compare } from "../workflows/compare/compare.js";
import { lineNames } from "../workflows/compare/lines.js";
import { addSharedOptions, type SharedOptions } from "./compare-options.js";
import { printComparison } from "./comparison-text.js";
import { examples } from "./examples.js";
import { type Io, progressOf } from "./io.js";
import { namesIn, namesOrAll } from "./option-values.js";

interface Options extends SharedOptions {
	readonly models: string;
	readonly tasks?: string;
	readonly leaders?: string;
}

const description = `The paper's table on your data: trains every model and measures it on every task.

Forecasting is recall@K, labelled tasks are AUPRC with no label seen (S = 0), with 5 and
with all; — where a model has no such setting. Beside the models stand the patient's own
counts, code frequencies and, on a simulated population, the oracle; trajgpt-plain is
TrajGPT without the gap as input and without heads that count. Models that are
pre-trained are fine-tuned to labels (and to forecasts, if they are encoders only); the
others learn each task from scratch, as in the paper.

Each cell (a model and a seed) is a process of its own; as many as there are cores run
beside each other. Finished cells are kept in OUT: the same command goes on where it was
stopped or killed. A cell that fails is reported and does not stop the others; it is tried
again by the same command. OUT/table.{json,csv,md,tex} hold the table.`;

export function command(io: Io): Command {
	return addSharedOptions(
		new Command("compare")
			.description(description)
			.argument("<dataset>", "folder that `trajgpt prepare` wrote")
			.option("--models <list>", `all, or some of ${lineNames.join(",")}`, "all")
			.option(
				"--tasks <list>",
				"some of next,forecast and the labels of the dataset (default: all but next)",
			),
	)
		.option("--leaders <list>", "models that get all the seeds; the others get the first")
		.addHelpText(
			"after",
			examples({
				"trajgpt compare sim --models all --out runs/table": "every model, one seed",
				"trajgpt compare sim --models trajgpt,gru-d,gpt2 --tasks forecast --seeds 3 --out runs/three":
					"three models, three seeds",
				"trajgpt compare so --tasks next,forecast --depths 1,5,10 --seeds 3 --leaders trajgpt,gru-d --out runs/so":
					"three seeds for two models, one for the rest",
			}),
		)
		.action((folder: string, options: Options) =>
			printComparison(io, options, async (signal) =>
				compare(await openDataset(folder), options.out, {
					...options,
					models: namesOrAll(options.models),
					tasks: options.tasks ? namesIn(options.tasks) : undefined,
					leaders: options.leaders === undefined ? undefined : namesIn(options.leaders),
					...{ signal, progress: progressOf(io) },
				}),
			),
		);
}
