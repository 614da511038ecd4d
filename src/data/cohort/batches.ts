import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { Dataset } from "./dataset.js";
import type { History } from "./history.js";
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
}

/** Assigns windows to batches; contents are read later, batch by batch. */
export type BatchPlan = ReturnType<typeof planBatches>;
type PlannedBatch = ReturnType<BatchPlan["epoch"]>[number];

/**
 * Plans batches over sequences of the given lengths, with few shapes and little padding. Lengths include the
 * birth events, which `birthEvents` counts separately. No sequence is dropped.
 */
export function planBatches(
	lengths: ArrayLike<number>,
	birthEvents: ArrayLike<number>,
	options: BatchOptions,
) {
	const { maxLength, cut, size, seed, maxShapes = 9 } = options;
	atLeast("maximum length", maxLength, 2);
	atLeast("number of shapes", maxShapes, 1);
	atLeast("batch size", "rows" in size ? size.rows : size.slots, 1);
	const windows = cutWindows(lengths, birthEvents, maxLength, cut);
	const shapes = chooseBuckets(windows.length, { ...options, maxShapes });
	const members: number[][] = shapes.map(() => []);
	for (const [window, length] of windows.length.entries())
		members[shapes.findIndex((shape) => length <= shape.length)]?.push(window);
	return {
		shapes,
		windows,
		/** Batches per epoch. */
		count: shapes.reduce((sum, { batches }) => sum + batches, 0),
		/** The fraction of all slots, empty rows included, without an event. */
		padding: paddingOf(windows.length, shapes),
		/** The batches of an epoch, in order. Depends only on the epoch and the options. */
		epoch(epoch: number) {
			const stream = random(seed).fork("batches").fork(epoch);
			const batches = shapes.flatMap(({ rows, length }, at) => {
				const order = Int32Array.from(stream.fork(at).shuffle(members[at]));
				return Array.from({ length: Math.ceil(order.length / rows) }, (_, i) => ({
					rows,
					length,
					/** Indices of windows, at most `rows`; remaining rows stay empty. */
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
		const sequence = windows.sequence[window];
		const history = await read(sequence);
		const start = row * length;
		const body = start + history.birthEvents;
		const [from, to] = [windows.from[window], windows.to[window]];
		tokens.set(history.tokens.subarray(0, history.birthEvents), start);
		times.set(history.times.subarray(0, history.birthEvents), start);
		tokens.set(history.tokens.subarray(from, to), body);
		times.set(history.times.subarray(from, to), body);
		const end = windows.length[window];
		times.fill(times[start + end - 1], start + end, start + length);
		lengths[row] = end;
		sequences[row] = sequence;
		sources[row] = { history, from, to };
	}
	return { rows, length, tokens, times, lengths, sequences, sources };
}

export type SplitBatches = ReturnType<typeof plannedBatches>;

/** The batches of a plan, over sequences that are read one by one; a batch's `sequences` are their numbers. */
export function plannedBatches(
	plan: BatchPlan,
	read: (sequence: number) => Promise<History>,
	numberOf = (sequence: number) => sequence,
) {
	let current = { epoch: Number.NaN, batches: [] as readonly PlannedBatch[] }; // avoids replanning
	return {
		plan,
		/** Reads batch i of an epoch. Depends on nothing else, so a run can resume at any batch. */
		async read(epoch: number, i: number): Promise<Batch> {
			if (current.epoch !== epoch) current = { epoch, batches: plan.epoch(epoch) };
			const planned = current.batches[i];
			if (!planned) throw new RangeError(`batch ${i} of ${current.batches.length}`);
			const batch = await fillBatch(plan, planned, read);
			const sequences = batch.sequences.map((at) => (at < 0 ? -1 : numberOf(at)));
			return { ...batch, sequences };
		},
	};
}

/** Batches over a split of a dataset; a batch's `sequences` are the dataset's patient numbers. */
export function splitBatches(dataset: Dataset, split: Split, options: BatchOptions): SplitBatches {
	const patients = dataset.patients(split);
	const plan = planBatches(
		patients.map((patient) => dataset.lengthOf(patient)),
		patients.map((patient) => dataset.birthEventsOf(patient)),
		options,
	);
	return plannedBatches(
		plan,
		(at) => dataset.read(patients[at]),
		(at) => patients[at],
	);
}

/** How a history longer than the model's length is cut. */
export type Cut = "last" | "windows";

/**
 * Cuts sequences to at most `maxLength` slots: `last` keeps the latest events, `windows` keeps all events in
 * as few windows of equal size as possible, so that no window has only an event or two. The windows are columns: window
 * i is the birth event of `sequence[i]`, if it has one, so that the age is known in each, followed by its slots
 * `from[i]` to `to[i]`.
 */
function cutWindows(
	lengths: ArrayLike<number>,
	birthEvents: ArrayLike<number>,
	maxLength: number,
	cut: Cut,
) {
	const columns = { sequence: [], from: [], to: [], length: [] } as Record<
		"sequence" | "from" | "to" | "length",
		number[]
	>;
	for (let sequence = 0; sequence < lengths.length; sequence++) {
		const birth = birthEvents[sequence];
		const events = lengths[sequence] - birth;
		const room = maxLength - birth;
		const windows = Math.ceil(events / room); // none if there is no event to predict
		for (let i = cut === "last" ? Math.max(0, windows - 1) : 0; i < windows; i++) {
			const [first, last] =
				cut === "last"
					? [Math.max(0, events - room), events]
					: [Math.floor((i * events) / windows), Math.floor(((i + 1) * events) / windows)];
			columns.sequence.push(sequence);
			columns.from.push(birth + first);
			columns.to.push(birth + last);
			columns.length.push(birth + last - first);
		}
	}
	return {
		sequence: Int32Array.from(columns.sequence),
		from: Int32Array.from(columns.from),
		to: Int32Array.from(columns.to),
		/** Slots in the window, birth event included. */
		length: Int32Array.from(columns.length),
	};
}

/** A static shape and how many batches have it. */
interface Bucket {
	readonly rows: number;
	readonly length: number;
	readonly batches: number;
}

/** Maximum number of rows, or of slots (rows × length), per batch. */
export type BatchSize = { readonly rows: number } | { readonly slots: number };

/** Rounds a length up to one that buckets may have: any up to 16, then sixteen per octave. */
export function roundLength(length: number): number {
	const step = length <= 16 ? 1 : 2 ** (Math.floor(Math.log2(length)) - 4);
	return Math.ceil(length / step) * step;
}

/**
 * The bucket lengths with the least padding, for every number of buckets from 1 to `most`.
 * Dynamic programming over the rounded lengths: a bucket takes a run of them and costs
 * Σ (its last length − length).
 */
export function bestLengths(lengths: Int32Array, longest: number, most: number): number[][] {
	const sizes = new Map<number, { count: number; total: number }>();
	for (const length of lengths) {
		const end = Math.min(longest, roundLength(length));
		const size = sizes.get(end) ?? { count: 0, total: 0 };
		size.count++;
		size.total += length;
		sizes.set(end, size);
	}
	const ends = [...sizes.keys()].sort((a, b) => a - b);
	const counts = [0]; // counts[j]: sequences within the first j ends
	const totals = [0];
	for (const [j, end] of ends.entries()) {
		const { count, total } = sizes.get(end) as { count: number; total: number };
		counts.push(counts[j] + count);
		totals.push(totals[j] + total);
	}
	const padding = (i: number, j: number) =>
		ends[j - 1] * (counts[j] - counts[i]) - (totals[j] - totals[i]);

	/** By number of ends covered, with as many buckets as there are solutions. */
	let best = [0, ...ends].map((_, j) => ({
		cost: j === 0 ? 0 : Number.POSITIVE_INFINITY,
		lengths: [] as number[],
	}));
	const solutions: number[][] = [];
	while (solutions.length < Math.min(most, ends.length)) {
		const before = best;
		best = before.map((_, j) => {
			let [cost, start] = [Number.POSITIVE_INFINITY, 0];
			for (let i = 0; i < j; i++) {
				const total = before[i].cost + padding(i, j);
				if (total < cost) [cost, start] = [total, i];
			}
			return { cost, lengths: j === 0 ? [] : [...before[start].lengths, ends[j - 1]] };
		});
		solutions.push(best[ends.length].lengths);
	}
	return solutions;
}

/**
 * The number of rows per batch of a bucket: the largest up to `most` that leaves less than 3 % of the rows empty,
 * or the one that leaves the fewest.
 */
export function rowsThatFit(sequences: number, most: number): number {
	const upper = Math.min(most, sequences);
	let best = upper;
	let bestEmpty = Number.POSITIVE_INFINITY;
	for (let rows = upper; rows >= Math.ceil(upper / 2); rows--) {
		const empty = (Math.ceil(sequences / rows) * rows) / sequences - 1;
		if (empty < bestEmpty) {
			best = rows;
			bestEmpty = empty;
		}
		if (empty < 0.03) break;
	}
	return best;
}

function bucketsOf(lengths: Int32Array, ends: readonly number[], size: BatchSize): Bucket[] {
	const counts = ends.map(() => 0);
	for (const length of lengths) {
		const at = ends.findIndex((end) => length <= end);
		counts[at] += 1;
	}
	return ends.map((length, at) => {
		const most = "rows" in size ? size.rows : Math.max(1, Math.floor(size.slots / length));
		const rows = rowsThatFit(counts[at], most);
		return { rows, length, batches: Math.ceil(counts[at] / rows) };
	});
}

/** The fraction of all slots without an event: ends of rows and empty rows. */
function paddingOf(lengths: Int32Array, buckets: readonly Bucket[]): number {
	const filled = lengths.reduce((sum, length) => sum + length, 0);
	const slots = buckets.reduce(
		(sum, { rows, length, batches }) => sum + rows * length * batches,
		0,
	);
	return slots === 0 ? 0 : 1 - filled / slots;
}

/** To compile a program for one more shape takes about as long as to run this many small batches. */
const batchesPerShape = 16;

/** No shapes are added once padding is at most this fraction of all slots. */
const enoughPadding = 0.12;

/** The fewest buckets with little padding, or those with the least. */
function chooseBuckets(
	lengths: Int32Array,
	{
		maxLength,
		size,
		maxShapes,
		passes = Number.POSITIVE_INFINITY,
	}: BatchOptions & { readonly maxShapes: number },
): readonly Bucket[] {
	let best: readonly Bucket[] = [];
	let bestPadding = Number.POSITIVE_INFINITY;
	for (const ends of bestLengths(lengths, maxLength, maxShapes)) {
		const buckets = bucketsOf(lengths, ends, size);
		const runs = passes * buckets.reduce((sum, { batches }) => sum + batches, 0);
		if (buckets.length > Math.max(1, runs / batchesPerShape)) break;
		const fraction = paddingOf(lengths, buckets);
		if (fraction < bestPadding) {
			best = buckets;
			bestPadding = fraction;
		}
		if (fraction <= enoughPadding) break;
	}
	return best;
}
