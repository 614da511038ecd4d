import { Command } from "commander";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { seedNumber, threadCount } from "./option-values.js";

interface Options {
	readonly out?: string;
	readonly dataset?: string;
	readonly patient?: readonly string[];
	readonly patientMap?: true;
	readonly seed: number;
	readonly threads?: number;
	readonly force?: true;
	readonly json?: true;
}

const description = `Writes one page with all that is known of a run: findings, tables, figures, how it was made, limits.

The page is a single HTML file that needs no network and no script. It tells what \`trajgpt evaluate\`
has measured; what was not measured is named, with the command that does it. The figures are also
written to the run's folder, as SVG and PNG. Two test patients are shown by name: treat the page
as you treat the records.`;

export function command(io: Io): Command {
	return new Command("report")
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
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { json, patient, ...more } = options;
	const { writeReport } = await import("./report/write.js");
	const written = await writeReport(io, folder, { ...more, ...(patient && { patients: patient }) });
	if (json) return printJson(io, written);
	const { findings, warnings, missing, report } = written;
	io.stdout.write(
		[
			...findings.map(({ says }) => `${says}\n`),
			...warnings.map((warning) => `note: ${warning}\n`),
			...missing.map(({ what, command }) => `not measured: ${what}; run ${command}\n`),
			`report: ${report}\n`,
		].join(""),
	);
}
