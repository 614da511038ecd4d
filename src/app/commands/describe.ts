import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Command } from "commander";
import { InputError } from "../../base/errors.js";
import { openDataset, summarize } from "../../data/cohort/index.js";
import { roundingRule } from "../../data/cohort/privacy-rounding.js";
import { readRun, runFiles } from "../../model/train/index.js";
import { checkFigureTarget, writeFigure } from "../workflows/figure-file.js";
import { withDatasetWarning } from "./dataset-warning.js";
import { describeText } from "./describe-text.js";
import { withFlags } from "./flags.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";
import { command as prepareCommand } from "./prepare.js";
import { textBarsFor } from "./text-bars.js";

interface Options {
	readonly top: number;
	readonly figure?: string;
	readonly force?: true;
	readonly json?: true;
}

const description = `Summarize a dataset: counts, spans, gaps, codes, labels, and what was left out.

Lists and draws the most frequent codes. --json holds all codes, with histograms; the
field names state the unit (days or years). A maximum belongs to one patient and is rounded up,
in the column "at most" and in every "max" of --json: ${roundingRule}.
All other numbers are exact.`;

export const examples = {
	"trajgpt describe claims": "tables",
	"trajgpt describe claims --figure claims.svg": "tables and a figure",
	"trajgpt describe claims --json": "the same as JSON",
};

export function command(io: Io): Command {
	return new Command("describe")
		.description(description)
		.argument("<dataset>", "dataset folder written by `trajgpt prepare`")
		.option("--top <n>", "number of codes to list and draw", wholeNumber(0, 100_000), 20)
		.option("--figure <file>", "also draw a figure to this .svg or .png file")
		.option("--force", "replace an existing figure")
		.option("--json", "print one JSON document")
		.action(async (folder: string, { top, figure, force, json }: Options) => {
			if (figure !== undefined) await checkFigureTarget(figure, force ?? false);
			if (existsSync(runFiles(folder).run))
				throw new InputError(
					`${folder} is a run, and describe is for datasets; run \`trajgpt describe ${join(folder, readRun(folder).datasetFolder)}\` for the dataset that it learned from, or \`trajgpt report ${folder}\` for the model and its results`,
				);
			const dataset = withDatasetWarning(io, await openDataset(folder));
			const summary = await summarize(dataset);
			if (figure !== undefined) {
				const { datasetFigure } = await import("../../evaluate/charts/index.js");
				const title = basename(resolve(folder));
				await writeFigure(figure, datasetFigure(summary, { title, top }));
			}
			if (json) printJson(io, { manifest: dataset.manifest, ...summary });
			else
				io.stdout.write(
					describeText(folder, dataset.manifest, summary, top, textBarsFor(io), (text) =>
						withFlags(text, prepareCommand(io)),
					),
				);
			if (figure !== undefined) io.stderr.write(`drawn: ${figure}\n`);
		});
}
