/** A static shape and how many batches have it. */
export interface Bucket {
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
		counts.push((counts[j] as number) + count);
		totals.push((totals[j] as number) + total);
	}
	const padding = (i: number, j: number) =>
		(ends[j - 1] as number) * ((counts[j] as number) - (counts[i] as number)) -
		((totals[j] as number) - (totals[i] as number));

	const solutions: number[][] = [];
	const starts: number[][] = []; // starts[k][j]: where the last of k + 1 buckets over j ends begins
	let cost = [0, ...ends.map(() => Number.POSITIVE_INFINITY)]; // with no bucket
	for (let k = 0; k < Math.min(most, ends.length); k++) {
		const next = ends.map(() => Number.POSITIVE_INFINITY);
		next.unshift(Number.POSITIVE_INFINITY);
		const start = next.map(() => 0);
		for (let j = 1; j <= ends.length; j++)
			for (let i = 0; i < j; i++) {
				const total = (cost[i] as number) + padding(i, j);
				if (total < (next[j] as number)) {
					next[j] = total;
					start[j] = i;
				}
			}
		starts.push(start);
		cost = next;
		const solution: number[] = [];
		for (let at = k, j = ends.length; at >= 0; at--) {
			solution.unshift(ends[j - 1] as number);
			j = starts[at]?.[j] as number;
		}
		solutions.push(solution);
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
		counts[at] = (counts[at] as number) + 1;
	}
	return ends.map((length, at) => {
		const most = "rows" in size ? size.rows : Math.max(1, Math.floor(size.slots / length));
		const rows = rowsThatFit(counts[at] as number, most);
		return { rows, length, batches: Math.ceil((counts[at] as number) / rows) };
	});
}

/** The fraction of all slots without an event: ends of rows and empty rows. */
export function paddingOf(lengths: Int32Array, buckets: readonly Bucket[]): number {
	const filled = lengths.reduce((sum, length) => sum + length, 0);
	const slots = buckets.reduce(
		(sum, { rows, length, batches }) => sum + rows * length * batches,
		0,
	);
	return slots === 0 ? 0 : 1 - filled / slots;
}

/** To compile a program for one more shape takes about as long as to run this many small batches. */
const batchesPerShape = 16;

/** The fewest buckets with at most `padding`, or those with the least padding. */
export function chooseBuckets(
	lengths: Int32Array,
	longest: number,
	size: BatchSize,
	limits: {
		/** The maximum number of buckets. */
		readonly most: number;
		readonly padding: number;
		/** How often each batch will be used: few uses are worth few buckets. */
		readonly passes: number;
	},
): readonly Bucket[] {
	const { most, padding, passes } = limits;
	let best: readonly Bucket[] = [];
	let bestPadding = Number.POSITIVE_INFINITY;
	for (const ends of bestLengths(lengths, longest, most)) {
		const buckets = bucketsOf(lengths, ends, size);
		const runs = passes * buckets.reduce((sum, { batches }) => sum + batches, 0);
		if (buckets.length > Math.max(1, runs / batchesPerShape)) break;
		const found = paddingOf(lengths, buckets);
		if (found < bestPadding) {
			best = buckets;
			bestPadding = found;
		}
		if (found <= padding) break;
	}
	return best;
}
