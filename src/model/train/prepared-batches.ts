import { availableParallelism } from "node:os";
import { random } from "../../base/random.js";
import type {
	BatchOptions,
	DatasetView,
	SharedEvents,
	SplitBatches,
} from "../../data/cohort/index.js";
import { startThreads } from "../../engine/runtime/threads.js";
import { type BatchUse, type PreparedBatch, prepareBatch } from "./prepare-batch.js";

/** Which batches a run reads. */
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

/** What a thread needs to prepare batches. */
export interface PreparingThread
	extends Omit<BatchUse, "model">,
		Pick<BatchSource, "accumulate" | "seed"> {
	readonly dataset: string;
	readonly view: DatasetView;
	readonly events?: SharedEvents | undefined;
	/** The model's id. */
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
