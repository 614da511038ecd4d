import { Command } from "commander";
import { sealRun } from "../../model/train/index.js";
import { type Io, printJson } from "./io.js";

const description = `Bind the weights of a run to its vocabulary, manifest and settings.

Training binds them: the header of the weights file holds the SHA-256 of run.json,
manifest.json and vocabulary.json (and of task.json, for a fine-tuned task). Every
command that reads the run checks it, so that an edited or mixed-up file is refused
instead of giving wrong predictions. Runs of earlier versions are read with a warning;
this command binds them. It first compares the files with the dataset, if that has not
moved, and refuses files that do not match.

The seal detects accidental changes. It is not a signature: anyone who can write to the
run can seal it.`;

interface Options {
	readonly force?: boolean;
	readonly json?: true;
}

export const examples = {
	"trajgpt seal runs/old": "a run of an earlier version",
	"trajgpt seal runs/sim --force": "after a name in vocabulary.json was corrected by hand",
};

export function command(io: Io): Command {
	return new Command("seal")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.option("--force", "accept files that changed after the weights were bound to them")
		.option("--json", "print one JSON document")
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
