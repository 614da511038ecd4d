import { oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import type { Column } from "../../base/files/column-file.js";
import { silentProgress } from "../../base/progress.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import { placeOnMap, type UmapOptions, umap } from "../../evaluate/charts/index.js";
import { openRunDataset, type Trained } from "../../model/train/index.js";
import {
	inputVectors,
	outputVectors,
	representations,
	type ViewedHistory,
} from "../../predict/index.js";
import type { Monitoring } from "../commands/pretrain/training.js";
import type { QueriedPatients } from "./patients.js";

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
		const { provider, precision, communicator = oneProcess } = options;
		const { threads = threadsOf(trained, communicator) } = options;
		const compute = { threads, provider, precision, communicator };
		progress.note(`reading ${views.length} histories`);
		const vectors = await withRuntime(compute, "inference", (runtime) =>
			viewVectors(runtime, trained, views),
		);
		if (communicator.rank > 0) return [];
		return patientTable(trained, views, vectors, map && { ...map, onTokens });
	} finally {
		progress.finish();
	}
}

/** A history up to a time. */
export interface PatientView extends ViewedHistory {
	readonly id: string;
	/** The time of the representation, in days. */
	readonly at: number;
	/** Number of events, without the birth event. */
	readonly events: number;
	readonly sex: History["sex"];
	/** The label's value; null without a task. */
	readonly value: boolean | null;
}

/** A whole history, up to its last event. */
const wholeView = ({ id, sex, tokens, times, birthEvents }: History): PatientView => ({
	...{ id, sex, tokens, times, value: null },
	at: times.at(-1) as number,
	events: tokens.length - birthEvents,
});

/** The histories of a split: whole, or with a task, those with a label up to its time. */
export async function patientViews(
	dataset: Dataset,
	split: Split,
	task?: string,
): Promise<PatientView[]> {
	const patients = [...dataset.patients(split)];
	if (patients.length === 0)
		throw new InputError(`${dataset.folder} has no patients in its ${split} split`);
	const views: PatientView[] = [];
	if (task === undefined)
		for (const patient of patients) views.push(wholeView(await dataset.read(patient)));
	else {
		const own = new Set(patients);
		for (const { patient, events, time: at, value } of await dataset.labels(task)) {
			if (!own.has(patient)) continue;
			const { id, sex, tokens, times, birthEvents } = await dataset.read(patient);
			const end = birthEvents + events;
			views.push({
				...{ id, sex, at, events, value },
				tokens: tokens.subarray(0, end),
				times: times.subarray(0, end),
			});
		}
		if (views.length === 0)
			throw new InputError(
				`no patient of the ${split} split of ${dataset.folder} has a label for "${task}"; choose another \`split\` or \`task\``,
				{ field: "task", value: task },
			);
	}
	return views;
}

/** The vectors of views, [views, dim]. */
export async function viewVectors(
	runtime: Runtime,
	trained: Trained,
	views: readonly PatientView[],
): Promise<{ readonly vectors: Float32Array; readonly dim: number }> {
	const vectors = await representations(runtime, trained, views);
	return { vectors, dim: vectors.length / views.length };
}

/** The codes of a run's vocabulary, each with its embedding and, if `map` is given, its map position. */
function tokenTable(trained: Trained, map: UmapOptions | undefined): Column[] {
	const { first, dim, vectors } = inputVectors(trained);
	const tokens = trained.vocabulary.tokens.slice(first);
	return [
		{ name: "token", type: "count", values: tokens.map((_, at) => first + at) },
		{ name: "code", type: "text", values: tokens.map(({ code }) => code) },
		{ name: "system", type: "text", values: tokens.map(({ system }) => system) },
		{ name: "name", type: "text", values: tokens.map(({ name }) => name) },
		{ name: "category", type: "text", values: tokens.map(({ category }) => category) },
		{ name: "kind", type: "text", values: tokens.map(({ kind }) => kind) },
		{ name: "count", type: "count", values: tokens.map(({ count }) => count) },
		...(map ? placeColumns(umap(vectors, dim, map)) : []),
		...vectorColumns(vectors, dim),
	];
}

interface PatientMapOptions extends UmapOptions {
	/** Whether to place patients on the map of codes, instead of a map of patients. */
	readonly onTokens: boolean;
}

/** Patients with their vectors and, if `map` is given, their map positions. */
function patientTable(
	trained: Trained,
	views: readonly PatientView[],
	{ vectors, dim }: { readonly vectors: Float32Array; readonly dim: number },
	map: PatientMapOptions | undefined,
): Column[] {
	const values = views.flatMap(({ value }) => (value === null ? [] : [value]));
	return [
		{ name: "patient", type: "text", values: views.map(({ id }) => id) },
		{ name: "events", type: "count", values: views.map(({ events }) => events) },
		{ name: "days", type: "number", values: views.map(({ at }) => at) },
		...(values.length > 0 ? [{ name: "value", type: "flag", values } as const] : []),
		...(map ? placeColumns(patientPlaces(trained, vectors, dim, map)) : []),
		...vectorColumns(vectors, dim),
	];
}

/**
 * A map of patients. On the map of codes, a patient lies near the codes whose output vectors are nearest to its
 * own: the codes that the model predicts for it.
 */
function patientPlaces(
	trained: Trained,
	vectors: Float32Array,
	dim: number,
	{ onTokens, ...options }: PatientMapOptions,
): Float64Array {
	if (!onTokens) return umap(vectors, dim, options);
	const codes = inputVectors(trained);
	const map = umap(codes.vectors, codes.dim, options);
	return placeOnMap(map, outputVectors(trained).vectors, vectors, dim);
}

/** Every `stride`-th value, starting at index `from`. */
const strided = <T extends Float32Array | Float64Array>(all: T, from: number, stride: number) =>
	Array.from({ length: all.length / stride }, (_, row) => all[row * stride + from] as number);

/** Columns x and y of [n, 2]. */
const placeColumns = (places: Float64Array): Column[] =>
	["x", "y"].map((name, axis) => ({ name, type: "number", values: strided(places, axis, 2) }));

/** Columns v0, v1 … of [n, dim]. */
const vectorColumns = (vectors: Float32Array, dim: number): Column[] =>
	Array.from({ length: dim }, (_, d) => ({
		name: `v${d}`,
		type: "float",
		values: strided(vectors, d, dim),
	}));
