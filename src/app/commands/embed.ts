import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { type Column, columnsOf, csvOf, writeColumns } from "../../base/files/column-file.js";
import { silentProgress } from "../../base/progress.js";
import { type Split, splitNames } from "../../data/cohort/index.js";
import type { ComputeOptions } from "../../engine/runtime/open-runtime.js";
import {
	type NeighbourAgreement,
	placeOnMap,
	type UmapOptions,
	umap,
} from "../../evaluate/charts/maps/umap.js";
import { openRunDataset, type Trained } from "../../model/train/index.js";
import { checkTableFile } from "../../model/train/output-file.js";
import { inputVectors, outputVectors } from "../../predict/index.js";
import {
	type PatientView,
	patientViews,
	type QueriedPatients,
	wholeView,
	withCalls,
} from "../../predict/trained/open.js";
import { warningsFor } from "../../predict/user-input/moments.js";
import { defineCommand } from "./define-command.js";
import { choice, file, flag, offFlag, option, seed, text, whole } from "./fields.js";
import { communicatorOf, mayWrite, printJson, progressOf, tell } from "./io.js";
import { openRun, runArgument } from "./open-run.js";
import { hasRecords, openQueried, patientFields, patientFlags } from "./patients.js";
import type { Monitoring } from "./pretrain/training.js";
import { codeAgreement } from "./report/learned.js";

const description = `Write the embeddings that a run has learned, with positions on a 2-D map (UMAP).

--what tokens writes one row per code, with its embedding, and says how often the codes
nearest to a code share its category. --what patients writes one row
per history, with its pooled representation after the last event or, with --task, at the
time of the label, with the label's value. --input embeds new patients. Columns x and y are
the position on the map, v0, v1 … the vector, and days the time of the representation on the
dataset's time axis. Without --out the table is printed as CSV. The file names patients by
their ids: protect it like the records.`;

export const command = defineCommand({
	name: "embed",
	description,
	arguments: runArgument,
	options: {
		what: option("what", "embeddings to write", z.enum(["tokens", "patients"]).default("tokens")),
		split: choice("split", "split of the patients (default: test)", splitNames),
		task: text(
			"task",
			"only patients with a label of this task, up to its time: insulin, chf-paper …",
		),
		out: file("write to this .parquet or .csv file"),
		umap: offFlag("omit the map"),
		onTokens: flag("place patients on the map of codes, near the codes predicted for them"),
		neighbours: whole(2, 1000).default(15).describe("neighbours per point that UMAP keeps close"),
		seed: seed.default(0).describe("seed of the map"),
		force: flag("replace an existing file"),
		json: flag("print one JSON document; it holds the rows unless --out is given"),
		...patientFields,
	},
	examples: {
		"trajgpt embed runs/sim --out codes.parquet": "the codes, with a map",
		"trajgpt embed runs/sim --what patients --task insulin --out insulin.csv":
			"patients at the time of their label",
		"trajgpt embed runs/sim --what patients --input cohort.csv --skip-bad --out vectors.parquet":
			"new patients",
		"trajgpt embed runs/sim --no-umap": "the vectors alone, as CSV on standard output",
	},
	flags: patientFlags,
	async run(io, { run: folder, ...options }) {
		const { what, out, force, json } = options;
		await checkTableFile(out, force);
		const trained = openRun(io, folder);
		const queried = hasRecords(options) ? await openQueried(io, trained, options) : undefined;
		const warnings = queried ? warningsFor(queried, [], trained.manifest) : [];
		tell(io, { warnings });
		const { umap, seed, neighbours, ...vectors } = options;
		const columns = await embed(trained, {
			...vectors,
			queried,
			progress: progressOf(io),
			communicator: communicatorOf(io),
			...(umap && { map: { seed, neighbours } }),
		});
		const agreement = what === "tokens" ? codeAgreement(trained, seed) : undefined;
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
	},
});

const agreementText = ({ neighbours, share, byChance }: NeighbourAgreement) =>
	`of the ${neighbours} codes nearest to a code in the model's space, ${(100 * share).toFixed(1)} % share its category; of random codes, ${(100 * byChance).toFixed(1)} %\n`;

const rowsOf = (columns: readonly Column[], rows: number) =>
	Array.from({ length: rows }, (_, row) =>
		Object.fromEntries(columns.map(({ name, values }) => [name, values[row]])),
	);

/** Which embeddings to compute, and their map. */
export interface EmbedOptions extends ComputeOptions, Pick<Monitoring, "progress"> {
	readonly what: "tokens" | "patients";
	/** New patients. Default: those of the run's dataset. */
	readonly queried?: Pick<QueriedPatients, "patients"> | undefined;
	/** Split of the patients. Default: `test`. */
	readonly split?: Split | undefined;
	/** Only patients with a label of this task, up to the time of the label. */
	readonly task?: string | undefined;
	/** Options of the map (UMAP). Default: no map. */
	readonly map?: Pick<UmapOptions, "neighbours"> & { readonly seed: number };
	/** Whether to place patients on the map of codes, instead of a map of patients. */
	readonly onTokens?: boolean | undefined;
	/** The run's dataset, if it was moved. */
	readonly dataset?: string | undefined;
}

/**
 * The embeddings of a run's codes or patients, with map positions, as the columns of a table. Of processes that share
 * the work, rank 0 gets the table, and the others none.
 *
 * @example
 * await writeColumns("codes.parquet", await embed(readTrained("runs/first"), { what: "tokens" }));
 */
export async function embed(trained: Trained, options: EmbedOptions): Promise<readonly Column[]> {
	const { what, queried, split, task, onTokens = false, progress = silentProgress } = options;
	if (what === "tokens" && (queried || split || task || onTokens))
		throw new InputError(
			"`input`, `split`, `task` and `onTokens` select patients, but `what` is tokens; add `what` patients",
			{ field: "what", value: what },
		);
	if (queried && (split || task))
		throw new InputError(
			"`split` and `task` select patients of the run's dataset, but `input` gives others; leave out one or the other",
			{ field: split ? "split" : "task" },
		);
	const map = options.map && {
		...options.map,
		onRound: (done: number, total: number) => progress.update({ label: "map: round", done, total }),
	};
	try {
		if (what === "tokens") return options.communicator?.rank ? [] : tokenTable(trained, map);
		const views = queried
			? queried.patients.map(({ history }) => wholeView(history))
			: await patientViews(
					await openRunDataset(trained.folder, trained.run, options.dataset),
					split ?? "test",
					task,
				);
		progress.note(`reading ${views.length} histories`);
		const vectors = await withCalls(trained, options, ({ represent }) => represent(views));
		if (options.communicator?.rank) return [];
		return patientTable(trained, views, vectors, map, onTokens);
	} finally {
		progress.finish();
	}
}

/** The codes of a run's vocabulary, each with its embedding and, if `map` is given, its map position. */
function tokenTable(trained: Trained, map: UmapOptions | undefined): Column[] {
	const { first, dim, vectors } = inputVectors(trained);
	const tokens = trained.vocabulary.tokens.slice(first);
	return [
		...columnsOf(tokens, {
			token: ["count", (_, at) => first + at],
			code: ["text", ({ code }) => code],
			system: ["text", ({ system }) => system],
			name: ["text", ({ name }) => name],
			category: ["text", ({ category }) => category],
			kind: ["text", ({ kind }) => kind],
			count: ["count", ({ count }) => count],
		}),
		...placeColumns(map && umap(vectors, dim, map)),
		...vectorColumns(vectors, dim),
	];
}

/**
 * Patients with their vectors and, if `map` is given, their map positions. On the map of codes, a patient lies near
 * the codes whose output vectors are nearest to its own: the codes that the model predicts for it.
 */
function patientTable(
	trained: Trained,
	views: readonly PatientView[],
	vectors: Float32Array,
	map: UmapOptions | undefined,
	onTokens: boolean,
): Column[] {
	const dim = vectors.length / views.length;
	const codes = map && onTokens ? inputVectors(trained) : undefined;
	const places = codes
		? placeOnMap(umap(codes.vectors, codes.dim, map), outputVectors(trained).vectors, vectors, dim)
		: map && umap(vectors, dim, map);
	return [
		...columnsOf(views, {
			patient: ["text", ({ id }) => id],
			events: ["count", ({ events }) => events],
			days: ["number", ({ at }) => at],
			value: views.some(({ value }) => value !== null) && ["flag", ({ value }) => value === true],
		}),
		...placeColumns(places),
		...vectorColumns(vectors, dim),
	];
}

/** Every `stride`-th value, starting at index `from`. */
const strided = <T extends Float32Array | Float64Array>(all: T, from: number, stride: number) =>
	Array.from({ length: all.length / stride }, (_, row) => all[row * stride + from] as number);

/** Columns x and y of [n, 2], if there is a map. */
const placeColumns = (places: Float64Array | undefined): Column[] =>
	places === undefined
		? []
		: ["x", "y"].map((name, axis) => ({ name, type: "number", values: strided(places, axis, 2) }));

const vectorColumns = (vectors: Float32Array, dim: number): Column[] =>
	Array.from({ length: dim }, (_, d) => ({
		name: `v${d}`,
		type: "float",
		values: strided(vectors, d, dim),
	}));
