import { z } from "zod";
import { type Column, columnFormat, csvOf, writeColumns } from "../../base/files/column-file.js";
import { splitNames } from "../../data/cohort/index.js";
import type { NeighbourAgreement } from "../../evaluate/charts/index.js";
import type { Trained } from "../../model/train/index.js";
import { checkOutputFile } from "../../model/train/output-file.js";
import { warningsFor } from "../../predict/user-input/index.js";
import { defineCommand } from "./define-command.js";
import { flag, offFlag, option, seed, type Values, whole } from "./fields.js";
import { communicatorOf, type Io, mayWrite, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { openNewPatients, patientFields, patientFlags } from "./patient-options.js";

const description = `Write the embeddings that a run has learned, with positions on a 2-D map (UMAP).

--what tokens writes one row per code, with its embedding, and says how often the codes
nearest to a code share its category. --what patients writes one row
per history, with its pooled representation after the last event or, with --task, at the
time of the label, with the label's value. --input embeds new patients. Columns x and y are
the position on the map, v0, v1 … the vector, and days the time of the representation on the
dataset's time axis. Without --out the table is printed as CSV. The file names patients by
their ids: protect it like the records.`;

const options = {
	what: option("what", "embeddings to write", z.enum(["tokens", "patients"]).default("tokens")),
	split: option("split", "split of the patients (default: test)", z.enum(splitNames).optional()),
	task: option(
		"task",
		"only patients with a label of this task, up to its time: insulin, chf-paper …",
		z.string().optional(),
	),
	out: option("file", "write to this .parquet or .csv file", z.string().optional()),
	umap: offFlag("omit the map"),
	onTokens: flag("place patients on the map of codes, near the codes predicted for them"),
	neighbours: option("n", "neighbours per point that UMAP keeps close", whole(2, 1000).default(15)),
	seed: option("n", "seed of the map", seed.default(0)),
	force: flag("replace an existing file"),
	json: flag("print one JSON document; it holds the rows unless --out is given"),
	...patientFields,
};

type Options = Values<typeof options>;

export const command = defineCommand({
	name: "embed",
	description,
	arguments: { run: z.string().describe("run folder written by `trajgpt pretrain`") },
	options,
	examples: {
		"trajgpt embed runs/sim --out codes.parquet": "the codes, with a map",
		"trajgpt embed runs/sim --what patients --task insulin --out insulin.csv":
			"patients at the time of their label",
		"trajgpt embed runs/sim --what patients --input cohort.csv --skip-bad --out vectors.parquet":
			"new patients",
		"trajgpt embed runs/sim --no-umap": "the vectors alone, as CSV on standard output",
	},
	flags: patientFlags,
	run: (io, { run: folder, ...options }) => act(io, folder, options),
});

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
	const { codeAgreement } = await import("./report/maps.js");
	return codeAgreement(trained, seed);
}

const agreementText = ({ neighbours, share, byChance }: NeighbourAgreement) =>
	`of the ${neighbours} codes nearest to a code in the model's space, ${(100 * share).toFixed(1)} % share its category; of random codes, ${(100 * byChance).toFixed(1)} %\n`;

const rowsOf = (columns: readonly Column[], rows: number) =>
	Array.from({ length: rows }, (_, row) =>
		Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
	);
