import { Command, Option } from "commander";
import { splitNames } from "../../data/cohort/index.js";
import type { NeighbourAgreement } from "../../evaluate/charts/index.js";
import type { Trained } from "../../model/train/index.js";
import { warningsFor } from "../../predict/user-input/index.js";
import { checkOutputFile } from "../workflows/check-output-file.js";
import { type Column, columnFormat, csvOf, writeColumns } from "../workflows/column-file.js";
import type { EmbedOptions } from "../workflows/embed.js";
import { communicatorOf, type Io, mayWrite, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { seedNumber, wholeNumber } from "./option-values.js";
import { addPatientOptions, openNewPatients, type PatientFlags } from "./patient-options.js";

interface Options extends PatientFlags, Omit<EmbedOptions, "queried" | "map"> {
	readonly out?: string;
	readonly umap: boolean;
	readonly neighbours: number;
	readonly seed: number;
	readonly force?: true;
	readonly json?: true;
}

const description = `Write the embeddings that a run has learned, with positions on a 2-D map (UMAP).

--what tokens writes one row per code, with its embedding, and says how often the codes
nearest to a code share its category. --what patients writes one row
per history, with its pooled representation after the last event or, with --task, at the
time of the label, with the label's value. --input embeds new patients. Columns x and y are
the position on the map, v0, v1 … the vector, and days the time of the representation on the
dataset's time axis. Without --out the table is printed as CSV. The file names patients by
their ids: protect it like the records.`;

export const examples = {
	"trajgpt embed runs/sim --out codes.parquet": "the codes, with a map",
	"trajgpt embed runs/sim --what patients --task insulin --out insulin.csv":
		"patients at the time of their label",
	"trajgpt embed runs/sim --what patients --input cohort.csv --skip-bad --out vectors.parquet":
		"new patients",
	"trajgpt embed runs/sim --no-umap": "the vectors alone, as CSV on standard output",
};

export function command(io: Io): Command {
	const made = new Command("embed")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.addOption(
			new Option("--what <what>", "embeddings to write")
				.choices(["tokens", "patients"])
				.default("tokens"),
		)
		.addOption(
			new Option("--split <split>", "split of the patients (default: test)").choices([
				...splitNames,
			]),
		)
		.option(
			"--task <task>",
			"only patients with a label of this task, up to its time: insulin, chf-paper …",
		)
		.option("--out <file>", "write to this .parquet or .csv file")
		.option("--no-umap", "omit the map")
		.option("--on-tokens", "place patients on the map of codes, near the codes predicted for them")
		.option(
			"--neighbours <n>",
			"neighbours per point that UMAP keeps close",
			wholeNumber(2, 1000),
			15,
		)
		.option("--seed <n>", "seed of the map", seedNumber, 0)
		.option("--force", "replace an existing file")
		.option("--json", "print one JSON document; it holds the rows unless --out is given");
	addPatientOptions(made);
	return made.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { what, out, force, json } = options;
	if (out !== undefined) {
		columnFormat(out);
		await checkOutputFile(out, force ?? false);
	}
	const { embed } = await import("../workflows/embed.js");
	const trained = openRun(io, folder);
	const queried = await openNewPatients(io, trained, options);
	const warnings = queried ? warningsFor(queried, [], trained.manifest) : [];
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	const { umap, seed, neighbours, ...vectors } = options;
	const columns = await embed(trained, {
		...{ ...vectors, queried, progress: progressOf(io), communicator: communicatorOf(io) },
		...(umap && { map: { seed, neighbours } }),
	});
	const agreement = what === "tokens" ? await agreementOf(trained, seed) : undefined;
	const rows = columns[0]?.values.length ?? 0;
	if (out !== undefined && mayWrite(io)) await writeColumns(out, columns);
	const dim = columns.filter(({ name }) => /^v\d+$/.test(name)).length;
	if (json)
		printJson(io, {
			what,
			...(options.task !== undefined && { task: options.task }),
			rows,
			dim,
			columns: columns.map(({ name }) => name),
			...(agreement && { agreement }),
			...(queried && { unknown: queried.unknown, notes: queried.notes, warnings }),
			...(out === undefined ? { table: rowsOf(columns, rows) } : { file: out }),
		});
	else if (out === undefined) io.stdout.write(csvOf(columns));
	else {
		io.stdout.write(`${out}: ${rows} ${what}, vectors of ${dim}\n`);
		if (agreement) io.stdout.write(agreementText(agreement));
	}
}

async function agreementOf(trained: Trained, seed: number) {
	const { codeAgreement } = await import("../workflows/maps.js");
	return codeAgreement(trained, seed);
}

const agreementText = ({ neighbours, share, byChance }: NeighbourAgreement) =>
	`of the ${neighbours} codes nearest to a code in the model's space, ${(100 * share).toFixed(1)} % share its category; of random codes, ${(100 * byChance).toFixed(1)} %\n`;

const rowsOf = (columns: readonly Column[], rows: number) =>
	Array.from({ length: rows }, (_, row) =>
		Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
	);
