import { availableParallelism } from "node:os";
import { type Random, random, random as randomOf } from "../../base/random.js";
import type {
	BatchOptions,
	DatasetView,
	SharedEvents,
	SplitBatches,
} from "../../data/cohort/index.js";
import type { Feeds } from "../../engine/runtime/index.js";
import { startThreads } from "../../engine/runtime/threads.js";
import type { BatchShape, EventBatch, Model, ObjectiveName } from "../index.js";
import { lossFeeds } from "../model.js";

/** The next event alone (the paper), or also one further ahead, up to `horizon` events. */
export interface ChosenObjective {
	readonly objective: ObjectiveName;
	readonly horizon: number;
}

export interface BatchUse {
	readonly model: Model;
	readonly config: unknown;
	readonly objective: ChosenObjective;
	/** Devices that share the rows of a batch. */
	readonly devices: number;
	/** The part of each batch that this process computes, where several share it. */
	readonly share?: Share | undefined;
}

export interface Share {
	readonly part: number;
	readonly of: number;
}

export interface PreparedBatch {
	/** The shape on each device. */
	readonly shape: BatchShape;
	/** One per device. */
	readonly feeds: readonly Feeds[];
	/** How many targets each term of the loss has, in the whole batch. */
	readonly targets: Readonly<Record<string, number>>;
	/** Events of the whole batch, without padding. */
	readonly events: number;
}

type FeedsOf = (rows: EventBatch, random: Random) => ReturnType<typeof lossFeeds>;

/** Computes a batch's feeds. Depends only on its arguments, so any thread can do it. */
export function prepareBatch(
	{ model, config, objective, devices, share }: BatchUse,
	batch: EventBatch,
	random: Random,
	learning: boolean,
): PreparedBatch {
	const objectives = model.objectives[objective.objective];
	const { horizon } = objective;
	const feedsOf: FeedsOf = (rows, draws) =>
		lossFeeds(model, config, objectives, rows, { horizon, random: draws }, learning);
	const events = batch.lengths.reduce((a, b) => a + b, 0);
	if (share) return { ...shareOfFeeds(share, batch, random, feedsOf), events };
	const parts = splitRows(batch, devices);
	const fed = parts.map((part, i) => feedsOf(part, devices === 1 ? random : random.fork(i)));
	const targets: Record<string, number> = {};
	for (const part of fed) addInto(targets, part.targets);
	const [{ rows, length }] = parts as [EventBatch];
	return { shape: { rows, length }, feeds: fed.map(({ feeds }) => feeds), targets, events };
}

/**
 * The feeds of one process's rows. Everything is drawn for the whole batch, and what is drawn for other rows dropped:
 * the draws are those of a process on its own.
 */
function shareOfFeeds(
	{ part, of }: Share,
	batch: EventBatch,
	random: Random,
	feedsOf: FeedsOf,
): Omit<PreparedBatch, "events"> {
	const shape = perDevice(batch, of);
	const whole = feedsOf(batch, random);
	// Empty rows fill the last parts, and tell how long each feed is per row.
	const empty = feedsOf(emptyRows(shape), randomOf(0)).feeds;
	const twice = feedsOf(emptyRows({ ...shape, rows: 2 * shape.rows }), randomOf(0)).feeds;
	const parts = Object.entries(whole.feeds).map(([name, data]) => {
		const filling = empty[name];
		const perRow = ((twice[name]?.length ?? 0) - filling.length) / shape.rows;
		if (perRow === 0) return [name, data] as const;
		const [from, to] = [part, part + 1].map((at) => at * shape.rows * perRow);
		filling.set(data.subarray(from, to));
		return [name, filling] as const;
	});
	return { shape, feeds: [Object.fromEntries(parts)], targets: whole.targets };
}

const emptyRows = ({ rows, length }: BatchShape): EventBatch => ({
	rows,
	length,
	lengths: new Int32Array(rows),
	tokens: new Int32Array(rows * length),
	times: new Float64Array(rows * length),
});

export const addInto = (
	sums: Record<string, number>,
	more: Readonly<Record<string, number>>,
): void => {
	for (const [name, value] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + value;
};

/** The shape of each part of a batch that devices share. */
export const perDevice = ({ rows, length }: BatchShape, devices: number): BatchShape => ({
	rows: Math.ceil(rows / devices),
	length,
});

/** Deals the rows to parts of one size; empty rows fill the last. */
function splitRows(batch: EventBatch, parts: number): readonly EventBatch[] {
	if (parts === 1) return [batch];
	const { rows, length } = perDevice(batch, parts);
	return Array.from({ length: parts }, (_, part) => {
		const tokens = new Int32Array(rows * length);
		const times = new Float64Array(rows * length);
		const lengths = new Int32Array(rows);
		const [from, to] = [part * rows, (part + 1) * rows];
		tokens.set(batch.tokens.subarray(from * length, to * length));
		times.set(batch.times.subarray(from * length, to * length));
		lengths.set(batch.lengths.subarray(from, to));
		const sources = batch.sources?.slice(from, to);
		return { rows, length, tokens, times, lengths, ...(sources && { sources }) };
	});
}

export interface BatchSource {
	readonly batches: SplitBatches;
	readonly checks: SplitBatches;
	/** Batches per training step. */
	readonly accumulate: number;
	readonly seed: number;
}

/** Validation has few shapes: padding costs it little, and each shape is a program to compile. */
export const validationPlan = (plan: BatchOptions): BatchOptions => ({
	...plan,
	maxShapes: Math.min(3, plan.maxShapes ?? 3),
});

export interface StepPlace {
	readonly epoch: number;
	readonly stepInEpoch: number;
	/** Of the whole run, from 1. */
	readonly step: number;
}

/** The feeds of training steps and of validation. Each depends only on its place in the run. */
export interface PreparedBatches {
	ofStep(place: StepPlace): Promise<readonly PreparedBatch[]>;
	ofValidation(i: number): Promise<PreparedBatch>;
	dispose(): Promise<void>;
}

/** The numbers of a step's batches within their epoch. */
export function batchesOfStep(
	{ batches, accumulate }: Pick<BatchSource, "batches" | "accumulate">,
	stepInEpoch: number,
): readonly number[] {
	const first = stepInEpoch * accumulate;
	const count = Math.min(batches.plan.count - first, accumulate);
	return Array.from({ length: count }, (_, i) => first + i);
}

/** Prepared by this thread, when they are needed. */
export function preparedHere(source: BatchSource, use: BatchUse): PreparedBatches {
	const { batches, checks, seed } = source;
	return {
		async ofStep({ epoch, stepInEpoch, step }) {
			const draws = random(seed).fork("steps").fork(step);
			const prepared: PreparedBatch[] = [];
			for (const [i, number] of batchesOfStep(source, stepInEpoch).entries())
				prepared.push(prepareBatch(use, await batches.read(epoch, number), draws.fork(i), true));
			return prepared;
		},
		// Processes share validation by the batch.
		ofValidation: async (i) =>
			prepareBatch(
				{ ...use, share: undefined },
				await checks.read(0, i),
				random(seed).fork("valid").fork(i),
				false,
			),
		dispose: async () => {},
	};
}

export interface PreparingThread
	extends Omit<BatchUse, "model">,
		Pick<BatchSource, "accumulate" | "seed"> {
	readonly dataset: string;
	readonly view: DatasetView;
	readonly events?: SharedEvents | undefined;
	readonly model: string;
	readonly plan: BatchOptions;
}

/** Prepared by other threads. */
export function preparedByThreads(
	workerData: PreparingThread,
	count = Math.max(1, Math.min(8, availableParallelism() - 1)),
): PreparedBatches {
	const file = new URL("./preparing-thread.js", import.meta.url);
	const { call, end } = startThreads(file, { count, workerData, work: "prepares batches" });
	return {
		ofStep: (place) => call("ofStep", [place]) as Promise<readonly PreparedBatch[]>,
		ofValidation: (i) => call("ofValidation", [i]) as Promise<PreparedBatch>,
		dispose: end,
	};
}

/** Yields `read(from)` … `read(to - 1)` in order, with up to `ahead` more under way. */
export async function* readAhead<T>(
	from: number,
	to: number,
	ahead: number,
	read: (i: number) => Promise<T>,
): AsyncGenerator<T> {
	const reading: Promise<T>[] = [];
	for (let i = from; i < to; i++) {
		for (let next = i + reading.length; next < Math.min(to, i + ahead + 1); next++) {
			const started = read(next);
			started.catch(() => {}); // reported when it is its turn
			reading.push(started);
		}
		yield await (reading.shift() as Promise<T>);
	}
}
