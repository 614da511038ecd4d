import { mkdir } from "node:fs/promises";
import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../cohort/index.js";
import {
	columnsOf,
	comparisonOf,
	type Entry,
	type Method,
	tasksOf,
	type Way,
} from "../../evaluate/index.js";
import { holdingLock } from "../../files/index.js";
import type { Provider } from "../../runtime/index.js";
import { Exit, type Io } from "../io.js";
import { lineNotes } from "./notes.js";
import { openPlan, opponentsId } from "./plan.js";
import { showTable } from "./table.js";
import { type Failure, workThrough } from "./work.js";

export interface ComparisonRequest {
	readonly title: string;
	readonly folder: string;
	readonly dataset: Dataset;
	readonly entries: readonly Entry[];
	readonly ways: readonly Way[];
	readonly tasks: readonly string[];
	readonly depths: readonly number[];
	/** Ways to forecast that have columns of their own, instead of lines. */
	readonly methods?: readonly Method[];
	/** Of training, and of fine-tuning to labels. */
	readonly options: Readonly<Record<string, unknown>>;
	readonly tuning: Readonly<Record<string, unknown>>;
	readonly futures: number;
	readonly seeds: number;
	/** The lines that get all the seeds; the others get the first. All if left out. */
	readonly leaders?: readonly string[] | undefined;
	/** Cells beside each other; as many as there are cores and memory for if left out. */
	readonly jobs?: number | undefined;
	readonly provider: Provider;
	readonly json: boolean;
}

/** What a cell needs of memory at the sizes of `tiny`, generously. */
const cellBytes = 2 ** 31;

/** Trains and measures every line with every seed, and shows the table. */
export async function compareLines(io: Io, request: ComparisonRequest): Promise<void> {
	const { folder, dataset, tasks } = request;
	const known = tasksOf(dataset);
	if (tasks.length === 0)
		throw new InputError(`the list of tasks is empty; ${dataset.folder} has ${known.join(", ")}`);
	for (const task of tasks)
		if (!known.includes(task))
			throw new InputError(`${dataset.folder} has no task "${task}"; it has ${known.join(", ")}`);
	await mkdir(folder, { recursive: true });
	await holdingLock(join(folder, "compare.lock"), "at work on this comparison", () =>
		compareHeld(io, request),
	);
}

/** The work itself, while no other process does it in the same folder. */
async function compareHeld(io: Io, request: ComparisonRequest): Promise<void> {
	const { folder, dataset, entries, ways, tasks, depths, seeds, leaders } = request;
	const { title, options, tuning, futures } = request;
	await openPlan(folder, dataset, entries, {
		...{ title, tasks: [...tasks], depths: [...depths], futures },
		options: { ...options },
		tuning: { ...tuning },
	});
	const cores = availableParallelism();
	const jobs = request.jobs ?? Math.max(1, Math.min(cores, Math.floor(totalmem() / cellBytes)));
	const beside = {
		...{ jobs, provider: request.provider },
		threads: Math.max(1, Math.floor(cores / jobs)),
	};
	const columns = columnsOf(tasks, depths, request.methods);
	const cells = [
		...entries.map(({ id }) => ({ id, seed: 1 })),
		{ id: opponentsId, seed: 0 },
		...entries
			.filter(({ id }) => leaders?.includes(id) ?? true)
			.flatMap(({ id }) => Array.from({ length: seeds - 1 }, (_, i) => ({ id, seed: i + 2 }))),
	];
	const { cells: done, failed } = await workThrough(io, folder, cells, beside);
	const comparison = comparisonOf(
		columns,
		ways,
		[...done].sort((a, b) => a.seed - b.seed),
		failed.map((failure) => ({ label: labelOf(failure, entries), reason: failure.reason })),
		lineNotes(dataset, entries, tasks, request),
	);
	await showTable(io, folder, comparison, request.json);
	if (failed.length > 0) throw new Exit(1);
}

const labelOf = ({ id, seed }: Failure, entries: readonly Entry[]) =>
	`${entries.find((entry) => entry.id === id)?.label ?? id}, seed ${seed},`;
