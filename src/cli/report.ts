import { Command } from "commander";
import { openRunDataset } from "../train/index.js";
import type { ReportOptions } from "../workflows/report/report.js";
import { examples } from "./examples.js";
import { nameFlags } from "./flags.js";
import { type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { seedNumber, threadCount } from "./option-values.js";

interface Options extends ReportOptions {
	readonly dataset?: string;
	readonly patient?: readonly string[];
	readonly force?: true;
	readonly json?: true;
}

const description = `Writes one page with all that is known of a run: findings, tables, figures, how it was made, limits.

The page is a single HTML file that needs no network and no script. It tells what \`trajgpt evaluate\`
has measured; what was not measured is named, with the command that does it. The figures are also
written to the run's folder, as SVG and PNG. Two test patients are shown by name: treat the page
as you treat the records.`;

export function command(io: Io): Command {
	const command = new Command("report")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.option("--out <file>", "where to write the page (default: report.html in the run)")
		.option("--dataset <folder>", "where the run's dataset is now, if it was moved")
		.option(
			"--patient <id>",
			"a patient to show, instead of those chosen by rule; may be repeated",
			(id: string, all: readonly string[] = []) => [...all, id],
		)
		.option(
			"--patient-map",
			"draw a map with a mark for every test patient; simulated people are always drawn",
		)
		.option("--seed <n>", "of the maps and of the choice of patients", seedNumber, 0)
		.option("--threads <n>", "threads; as many as in training if left out", threadCount)
		.option("--force", "replace a page named by --out that is there")
		.option("--json", "print one JSON document: the files, the findings, what is missing")
		.addHelpText(
			"after",
			examples({
				"trajgpt report runs/sim": "runs/sim/report.html, and figures beside it",
				"trajgpt report runs/sim --patient p000060 --out p000060.html": "about a certain patient",
			}),
		)
		.action((folder: string, options: Options) => act(io, folder, options));
	nameFlags(command, { patients: "--patient" });
	return command;
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { dataset, patient, force, json, ...more } = options;
	const { report } = await import("../workflows/report/report.js");
	const trained = openRun(io, folder);
	const written = await report(trained, await openRunDataset(folder, trained.run, dataset), {
		...{ ...more, patients: patient, replace: force, progress: progressOf(io) },
	});
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
