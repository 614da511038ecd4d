import { z } from "zod";
import { variantNames } from "./compare/lines.js";
import { ablate } from "./compare/run.js";
import {
	comparisonFields,
	names,
	namesOrAll,
	presetField,
	printComparison,
} from "./compare/shared.js";
import { defineCommand } from "./define-command.js";
import { option } from "./fields.js";
import { datasetArgument } from "./open-run.js";

const description = `Measure what each part of TrajGPT contributes: train it with parts removed or changed.

The paper's variants remove one part after another: data-dependent decay, rotation by
time (absolute positions instead), linear attention (which leaves GPT-2). The other
variants change one part of the full model: the gap as input and the counting heads, the
objective, the unit of the decay, whether the query time is known, the norm.
Time-specific and auto-regressive forecasts have separate columns.

Cells, outputs and resuming work as in compare.`;

export const command = defineCommand({
	name: "ablate",
	description,
	arguments: datasetArgument,
	options: {
		preset: presetField,
		variants: option(
			"list",
			`variants to train: all, or some of ${variantNames.join(",")}`,
			z.string().default("all"),
		),
		tasks: option(
			"list",
			"tasks to evaluate: some of onset,next,forecast",
			names.default(["next", "forecast"]),
			{ defaultText: '"next,forecast"' },
		),
		...comparisonFields("ablate"),
	},
	examples: {
		"trajgpt ablate so --seeds 3 --out runs/ablation": "every variant, three seeds",
		"trajgpt ablate so --variants full,fixed-decay,absolute,gpt2 --tasks next --out runs/order":
			"next-event likelihood of the paper's variants",
	},
	run: (io, options) =>
		printComparison(io, options, (dataset, monitoring) =>
			ablate(dataset, options.out, {
				...options,
				...monitoring,
				variants: namesOrAll(options.variants),
			}),
		),
});
