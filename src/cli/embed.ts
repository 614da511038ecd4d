import { Command, Option } from "commander";
import { splitNames } from "../cohort/index.js";
import { checkFileTarget } from "../files/index.js";
import { type Column, columnFormat, csvOf, writeColumns } from "../workflows/column-file.js";
import type { EmbedOptions } from "../workflows/embed.js";
import { examples } from "./examples.js";
import { type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { seedNumber, threadCount, wholeNumber } from "./option-values.js";

interface Options extends EmbedOptions {
	readonly out?: string;
	readonly umap: boolean;
	readonly neighbours: number;
	readonly seed: number;
	readonly force?: true;
	readonly json?: true;
}

const description = `Writes the vectors a run has learned, with places on a map (UMAP).

Tokens: a row a code, with its embedding. Patients: a row a history, with its pooled
representation, as of the last event or, with --task, cut where the label is asked, with
its value. Columns x and y are the map, v0, v1 … the vector, days the time of the look on
the dataset's axis. Without --out the table is printed as CSV. Patients are named by
their ids: treat the file as you treat the records.`;

export function command(io: Io): Command {
	return new Command("embed")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.addOption(
			new Option("--what <what>", "whose vectors")
				.choices(["tokens", "patients"])
				.default("tokens"),
		)
		.addOption(
			new Option("--split <split>", "which patients (default: test)").choices([...splitNames]),
		)
		.option("--task <task>", "patients with a label of this task, cut at it: insulin, chf …")
		.option("--out <file>", "a name that ends in .parquet or .csv")
		.option("--no-umap", "leave out the map")
		.option("--on-tokens", "place patients on the map of the codes, among those expected of them")
		.option("--neighbours <n>", "of a point that stay near it on the map", wholeNumber(2, 1000), 15)
		.option("--seed <n>", "of the map", seedNumber, 0)
		.option("--dataset <folder>", "where the run's dataset is now, if it was moved")
		.option("--threads <n>", "threads; as many as in training if left out", threadCount)
		.option("--force", "replace a file that is there")
		.option("--json", "print one JSON document; without --out it holds the rows")
		.addHelpText(
			"after",
			examples({
				"trajgpt embed runs/sim --out codes.parquet": "the codes, with a map",
				"trajgpt embed runs/sim --what patients --task insulin --out insulin.csv":
					"patients as they were when the question was put",
				"trajgpt embed runs/sim --no-umap": "the bare vectors, as CSV on standard output",
			}),
		)
		.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { what, out, force, json } = options;
	if (out !== undefined) {
		columnFormat(out);
		await checkFileTarget(out, force ?? false);
	}
	const { embed } = await import("../workflows/embed.js");
	const { umap, seed, neighbours, ...vectors } = options;
	const columns = await embed(openRun(io, folder), {
		...{ ...vectors, progress: progressOf(io) },
		...(umap && { map: { seed, neighbours } }),
	});
	const rows = columns[0]?.values.length ?? 0;
	if (out !== undefined) await writeColumns(out, columns);
	const dim = columns.filter(({ name }) => /^v\d+$/.test(name)).length;
	if (json)
		printJson(io, {
			what,
			...(options.task !== undefined && { task: options.task }),
			rows,
			dim,
			columns: columns.map(({ name }) => name),
			...(out === undefined ? { table: rowsOf(columns, rows) } : { file: out }),
		});
	else if (out === undefined) io.stdout.write(csvOf(columns));
	else io.stdout.write(`${out}: ${rows} ${what}, vectors of ${dim}\n`);
}

const rowsOf = (columns: readonly Column[], rows: number) =>
	Array.from({ length: rows }, (_, row) =>
		Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
	);
