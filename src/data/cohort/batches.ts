import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { BatchSize, Bucket } from "./buckets.js";
import { chooseBuckets, paddingOf } from "./buckets.js";
import type { Dataset } from "./dataset.js";
import type { History } from "./history.js";
import type { Cut, HistoryWindows } from "./history-windows.js";
import { cutWindows } from "./history-windows.js";
import type { Split } from "./manifest.js";
import { specialTokens } from "./vocabulary.js";

export interface BatchOptions {
	/** Maximum number of slots per row. */
	readonly maxLength: number;
	readonly cut: Cut;
	readonly size: BatchSize;
	readonly seed: number;
	/** Maximum number of shapes (9); each one compiles a program. */
	readonly maxShapes?: number;
	/** How often each batch will be used (any number): few uses are worth few shapes. */
	readonly passes?: number;
	/** No shapes are added once padding is at most this fraction of all slots (0.12). */
	readonly padding?: number;
}

/** A batch of one static shape. */
export interface PlannedBatch {
	readonly rows: number;
	readonly length: number;
	/** Indices of windows, at most `rows`; remaining rows stay empty. */
	readonly windows: Int32Array;
}

/** Assigns windows to batches; contents are read later, batch by batch. */
export interface BatchPlan {
	readonly shapes: readonly Bucket[];
	readonly windows: HistoryWindows;
	/** Batches per epoch. */
	readonly count: number;
	/** The fraction of all slots, empty rows included, without an event. */
	readonly padding: number;
	/** The batches of an epoch, in order. Depends only on the epoch and the options. */
	epoch(epoch: number): readonly PlannedBatch[];
}

/**
 * Plans batches over sequences of the given lengths, with few shapes and little padding. Lengths include the
 * birth events, which `birthEvents` counts separately. No sequence is dropped.
 */
export function planBatches(
	lengths: ArrayLike<number>,
	birthEvents: ArrayLike<number>,
	options: BatchOptions,
): BatchPlan {
	const { maxLength, cut, size, seed, maxShapes = 9, padding = 0.12 } = options;
	const { passes = Number.POSITIVE_INFINITY } = options;
	atLeast("maximum length", maxLength, 2);
	atLeast("number of shapes", maxShapes, 1);
	atLeast("batch size", "rows" in size ? size.rows : size.slots, 1);
	const windows = cutWindows(lengths, birthEvents, maxLength, cut);
	const shapes = chooseBuckets(windows.length, maxLength, size, {
		...{ most: maxShapes, padding, passes },
	});
	const members: number[][] = shapes.map(() => []);
	for (const [window, length] of windows.length.entries())
		members[shapes.findIndex((shape) => length <= shape.length)]?.push(window);
	return {
		shapes,
		windows,
		count: shapes.reduce((sum, { batches }) => sum + batches, 0),
		padding: paddingOf(windows.length, shapes),
		epoch(epoch) {
			const stream = random(seed).fork("batches").fork(epoch);
			const batches = shapes.flatMap(({ rows, length }, at) => {
				const order = Int32Array.from(stream.fork(at).shuffle(members[at] as number[]));
				return Array.from({ length: Math.ceil(order.length / rows) }, (_, i) => ({
					rows,
					length,
					windows: order.subarray(i * rows, (i + 1) * rows),
				}));
			});
			return stream.fork("order").shuffle(batches);
		},
	};
}

function atLeast(name: string, value: number, least: number): void {
	if (!Number.isSafeInteger(value) || value < least)
		throw new InputError(`${name} is ${value}; expected a whole number of at least ${least}`);
}

/** The observed events x_1 … x_N of each row, from which the model builds its slots. */
export interface Batch {
	readonly rows: number;
	readonly length: number;
	/** [rows, length]; [PAD] after the end of a row. A token is a target iff it is not special. */
	readonly tokens: Int32Array;
	/** [rows, length], in days; the last time of a row is repeated in its padding. */
	readonly times: Float64Array;
	/** [rows]; 0 for an empty row. */
	readonly lengths: Int32Array;
	/** [rows]; the index of the sequence, −1 for an empty row. */
	readonly sequences: Int32Array;
	/** [rows]; the history of each row and the events of it that the row holds. */
	readonly sources: readonly (RowSource | undefined)[];
}

/** The events `from` to `to` of a history, after its birth event if it has one. */
export interface RowSource {
	readonly history: History;
	readonly from: number;
	readonly to: number;
}

/** Reads the contents of a planned batch. */
export async function fillBatch(
	plan: BatchPlan,
	batch: PlannedBatch,
	read: (sequence: number) => Promise<History>,
): Promise<Batch> {
	const { rows, length } = batch;
	const tokens = new Int32Array(rows * length).fill(specialTokens.pad);
	const times = new Float64Array(rows * length);
	const lengths = new Int32Array(rows);
	const sequences = new Int32Array(rows).fill(-1);
	const sources = new Array<RowSource | undefined>(rows).fill(undefined);
	const { windows } = plan;
	for (const [row, window] of batch.windows.entries()) {
		const sequence = windows.sequence[window] as number;
		const history = await read(sequence);
		const start = row * length;
		const body = start + history.birthEvents;
		const [from, to] = [windows.from[window] as number, windows.to[window] as number];
		tokens.set(history.tokens.subarray(0, history.birthEvents), start);
		times.set(history.times.subarray(0, history.birthEvents), start);
		tokens.set(history.tokens.subarray(from, to), body);
		times.set(history.times.subarray(from, to), body);
		const end = windows.length[window] as number;
		times.fill(times[start + end - 1] as number, start + end, start + length);
		lengths[row] = end;
		sequences[row] = sequence;
		sources[row] = { history, from, to };
	}
	return { rows, length, tokens, times, lengths, sequences, sources };
}

export interface SplitBatches {
	readonly plan: BatchPlan;
	/** Reads batch i of an epoch. Depends on nothing else, so a run can resume at any batch. */
	read(epoch: number, i: number): Promise<Batch>;
}

/** Batches over a split of a dataset; a batch's `sequences` are the dataset's patient numbers. */
export function splitBatches(dataset: Dataset, split: Split, options: BatchOptions): SplitBatches {
	const patients = dataset.patients(split);
	const plan = planBatches(
		patients.map((patient) => dataset.lengthOf(patient)),
		patients.map((patient) => dataset.birthEventsOf(patient)),
		options,
	);
	let current = { epoch: Number.NaN, batches: [] as readonly PlannedBatch[] }; // avoids replanning
	return {
		plan,
		async read(epoch, i) {
			if (current.epoch !== epoch) current = { epoch, batches: plan.epoch(epoch) };
			const batch = current.batches[i];
			if (!batch) throw new RangeError(`batch ${i} of ${current.batches.length}`);
			const filled = await fillBatch(plan, batch, (at) => dataset.read(patients[at] as number));
			const sequences = filled.sequences.map((at) => (at < 0 ? -1 : (patients[at] as number)));
			return { ...filled, sequences };
		},
	};
}
