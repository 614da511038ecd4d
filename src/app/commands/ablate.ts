import { Command } from "commander";
import { openDataset } from "../../data/cohort/index.js";
import { variantNames } from "./compare/lines.js";
import { ablate } from "./compare/run.js";
import {
	addPreset,
	addSharedOptions,
	printComparison,
	type SharedOptions,
} from "./compare/shared.js";
import { type Io, progressOf } from "./io.js";
import { withDatasetWarning } from "./open-run.js";
import { namesIn, namesOrAll } from "./option-values.js";

interface Options extends SharedOptions {
	readonly preset: string;
	readonly variants: string;
	readonly tasks: string;
}

const description = `Measure what each part of TrajGPT contributes: train it with parts removed or changed.

The paper's variants remove one part after another: data-dependent decay, rotation by
time (absolute positions instead), linear attention (which leaves GPT-2). The other
variants change one part of the full model: the gap as input and the counting heads, the
objective, the unit of the decay, whether the query time is known, the norm.
Time-specific and auto-regressive forecasts have separate columns.

Cells, outputs and resuming work as in compare.`;

export const examples = {
	"trajgpt ablate so --seeds 3 --out runs/ablation": "every variant, three seeds",
	"trajgpt ablate so --variants full,fixed-decay,absolute,gpt2 --tasks next --out runs/order":
		"next-event likelihood of the paper's variants",
};

export function command(io: Io): Command {
	return addSharedOptions(
		addPreset(
			new Command("ablate")
				.description(description)
				.argument("<dataset>", "dataset folder written by `trajgpt prepare`"),
		)
			.option(
				"--variants <list>",
				`variants to train: all, or some of ${variantNames.join(",")}`,
				"all",
			)
			.option("--tasks <list>", "tasks to evaluate: some of onset,next,forecast", "next,forecast"),
	).action((folder: string, options: Options) =>
		printComparison(io, options, async (signal) =>
			ablate(withDatasetWarning(io, await openDataset(folder)), options.out, {
				...options,
				variants: namesOrAll(options.variants),
				tasks: namesIn(options.tasks),
				...{ signal, progress: progressOf(io) },
			}),
		),
	);
}
