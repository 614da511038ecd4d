import { Command } from "commander";
import { sealRun } from "../train/index.js";
import { examples } from "./examples.js";
import { type Io, printJson } from "./io.js";

const description = `Binds the weights of a run to its vocabulary, manifest and settings.

Runs are bound when they are trained: the SHA-256 of run.json, manifest.json and
vocabulary.json (and of task.json, for a fine-tuned task) stands in the header of the
weights' file. Whoever reads the run checks it, so that an edited or mixed-up file is
refused instead of giving wrong predictions. Runs of earlier versions are read with a
warning; this command binds them. It first compares the files with the dataset, where
that is still in its place, and refuses what does not fit.

The seal detects accidental changes. It is not a signature: anyone who can write to the run can seal it.`;

interface Options {
	readonly force?: boolean;
	readonly json?: true;
}

export function command(io: Io): Command {
	return new Command("seal")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.option("--force", "accept files that were changed since the weights were bound to them")
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt seal runs/old": "a run of an earlier version",
				"trajgpt seal runs/sim --force": "after a name in vocabulary.json was corrected by hand",
			}),
		)
		.action(async (run: string, { force = false, json }: Options) => {
			const done = await sealRun(run, { force });
			if (json) return printJson(io, { run, ...done });
			const { sealed, unchanged, comparedWithDataset } = done;
			io.stdout.write(
				[
					...sealed.map((place) => `sealed: ${place}\n`),
					...unchanged.map((place) => `sealed before: ${place}\n`),
					...(comparedWithDataset
						? []
						: [
								"note: the dataset is not where it was, so manifest and vocabulary were not compared with it\n",
							]),
				].join(""),
			);
		});
}
