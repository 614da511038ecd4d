import { Command } from "commander";
import { openDataset } from "../cohort/index.js";
import { ablate } from "../workflows/compare/compare.js";
import { variantNames } from "../workflows/compare/variants.js";
import { addSharedOptions, type SharedOptions } from "./compare-options.js";
import { printComparison } from "./comparison-text.js";
import { examples } from "./examples.js";
import { type Io, progressOf } from "./io.js";
import { namesIn, namesOrAll } from "./option-values.js";

interface Options extends SharedOptions {
	readonly variants: string;
	readonly tasks: string;
}

const description = `What each part of TrajGPT is worth: trains it with parts taken out or changed.

The paper's lines take away one thing after another: data-dependent decay, rotation by
time (absolute positions instead), linear attention (which leaves GPT-2). Ours change one
thing of the first line: the gap as input and heads that count, the objective, what the
decay counts, whether the time asked about is known, the norm. Time-specific and
auto-regressive forecasts stand in columns of their own.

Cells, outputs and going on after a stop are those of compare.`;

export function command(io: Io): Command {
	return addSharedOptions(
		new Command("ablate")
			.description(description)
			.argument("<dataset>", "folder that `trajgpt prepare` wrote")
			.option("--variants <list>", `all, or some of ${variantNames.join(",")}`, "all")
			.option("--tasks <list>", "some of next,forecast", "next,forecast"),
	)
		.addHelpText(
			"after",
			examples({
				"trajgpt ablate so --seeds 3 --out runs/ablation": "every variant, three seeds",
				"trajgpt ablate so --variants full,fixed-decay,absolute,gpt2 --tasks next --out runs/order":
					"the paper's order in next-event likelihood",
			}),
		)
		.action((folder: string, options: Options) =>
			printComparison(io, options, async (signal) =>
				ablate(await openDataset(folder), options.out, {
					...options,
					variants: namesOrAll(options.variants),
					tasks: namesIn(options.tasks),
					...{ signal, progress: progressOf(io) },
				}),
			),
		);
}
