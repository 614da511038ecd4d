import { Command, Option } from "commander";
import { openRunDataset } from "../../model/train/index.js";
import type { ReportOptions } from "../workflows/report/report.js";
import { withDatasetWarning } from "./dataset-warning.js";
import { nameFlags } from "./flags.js";
import { type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { seedNumber, threadCount } from "./option-values.js";
import { mayRepeat } from "./repeated-options.js";

interface Options extends ReportOptions {
	readonly dataset?: string;
	readonly patient?: readonly string[];
	readonly force?: true;
	readonly json?: true;
}

const description = `Write an HTML report on a run: findings, tables, figures, how it was made, limits.

The page is a single HTML file that needs no network and no script. It shows the results of
\`trajgpt evaluate\`, and names each missing evaluation with the command that computes it. The
figures are also written to the run's folder, as SVG and PNG. Two test patients are shown with
their ids: protect the page like the records.`;

export const examples = {
	"trajgpt report runs/sim": "runs/sim/report.html, with figures next to it",
	"trajgpt report runs/sim --patient p001146 --out p001146.html": "with a patient of your choice",
};

export function command(io: Io): Command {
	const command = new Command("report")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.option("--out <file>", "file to write (default: report.html in the run)")
		.option("--dataset <folder>", "the run's dataset, if it was moved")
		.addOption(
			mayRepeat(
				new Option(
					"--patient <id>",
					"show this patient, instead of those chosen by rule; may be repeated",
				),
			),
		)
		.option(
			"--patient-map",
			"draw a map with one mark per test patient (always drawn for simulated people)",
		)
		.option("--seed <n>", "seed of the maps and of the choice of patients", seedNumber, 0)
		.option("--threads <n>", "number of threads (default: as in training)", threadCount)
		.option("--force", "replace an existing file at --out")
		.option("--json", "print one JSON document: the files, the findings, what is missing")
		.action((folder: string, options: Options) => act(io, folder, options));
	nameFlags(command, { patients: "--patient" });
	return command;
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { dataset, patient, force, json, ...more } = options;
	const { report } = await import("../workflows/report/report.js");
	const trained = openRun(io, folder);
	const written = await report(
		trained,
		withDatasetWarning(io, await openRunDataset(folder, trained.run, dataset)),
		{
			...{ ...more, patients: patient, replace: force, progress: progressOf(io) },
		},
	);
	if (json) return printJson(io, written);
	const { findings, warnings, missing } = written;
	io.stdout.write(
		[
			...findings.map(({ says }) => `${says}\n`),
			...warnings.map((warning) => `note: ${warning}\n`),
			...missing.map(({ what, command }) => `not measured: ${what}; run ${command}\n`),
			`report: ${written.report}\n`,
		].join(""),
	);
}
