import { Command } from "commander";
import { openDataset } from "../cohort/index.js";
import { waysOf } from "./compare/lines.js";
import { listed, namesIn } from "./compare/names.js";
import { addSharedOptions, type SharedOptions, trainingOf } from "./compare/options.js";
import { compareLines } from "./compare/run.js";
import { variantLines, variants } from "./compare/variants.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";

interface Options extends SharedOptions {
	readonly variants: string;
	readonly tasks: string;
}

const known = variants.map(({ id }) => id);

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
			.option("--variants <list>", `all, or some of ${known.join(",")}`, "all")
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
		.action(async (folder: string, options: Options) => {
			const wanted =
				options.variants === "all" ? known : namesIn(options.variants, "variant", known);
			const dataset = await openDataset(folder);
			const entries = variantLines(options).filter(({ id }) => wanted.includes(id));
			await compareLines(io, {
				title: "ablate",
				folder: options.out,
				dataset,
				entries,
				ways: waysOf(
					entries,
					() => false,
					// The paper's lines against the line above, ours against the first.
					({ group }, at) => (at === 0 || group === "paper" ? entries[at - 1] : entries[0]),
				),
				methods: ["time-specific", "auto-regressive"],
				tasks: listed(options.tasks),
				depths: options.depths,
				options: trainingOf(options),
				tuning: { maxLength: options.maxLength },
				...{ futures: options.futures, seeds: options.seeds, jobs: options.jobs },
				provider: options.provider,
				json: options.json ?? false,
			});
		});
}
