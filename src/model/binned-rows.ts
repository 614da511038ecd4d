import { columnsOf, type SparseColumns, type SparseRows } from "./glm.js";

/** Intervals of the values of each column. Bins are numbered through all columns, in order of their values. */
export interface Bins {
	/** The first bin of each column, and the number of all bins. */
	readonly firsts: Int32Array; // [columns + 1]
	/** The highest value in each bin; infinite for the last of a column. */
	readonly uppers: Float64Array;
	/** The bin of each column that holds zero. */
	readonly zeros: Int32Array; // [columns]
}

/** A matrix whose nonzero values are replaced by bins. Threads share its arrays. */
export interface BinnedRows {
	readonly bins: Bins;
	/** Where each row starts in `entries`, and the number of all entries. */
	readonly rowStarts: Int32Array; // [rows + 1]
	/** The bins of the nonzero values of each row, in ascending order. */
	readonly entries: Int32Array;
	/** The same by column: where each starts, the rows that have a nonzero value, and their bins. */
	readonly columnStarts: Int32Array; // [columns + 1]
	readonly columnRows: Int32Array;
	readonly columnEntries: Int32Array;
}

const sharedIntegers = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));

function widthOf({ starts, ends, columns }: SparseRows): number {
	let last = -1;
	for (let row = 0; row < starts.length; row++)
		for (let i = starts[row]; i < ends[row]; i++) last = Math.max(last, columns[i]);
	return last + 1;
}

/** A number from `low` to below `high`, halfway where there is one between. */
function between(low: number, high: number): number {
	const middle = (low + high) / 2;
	return middle < high ? middle : low;
}

/** Nonzero values have so many bins: 127, but fewer where bins would hold fewer than 16 values, yet 16 at least. */
const mostBins = (values: number) => Math.min(127, Math.max(16, values / 16));

/**
 * The highest value in each bin of a column. If there are few enough, each value has its bin; otherwise bins hold about
 * equally many nonzero values. Zero, if some row has it, is alone in its bin.
 */
function uppersOf(nonzeros: SparseColumns["values"], hasZero: boolean): number[] {
	const binLimit = mostBins(nonzeros.length);
	const sorted = nonzeros.toSorted();
	const values: number[] = [];
	const counts: number[] = [];
	const append = (value: number, count: number) => {
		if (values.at(-1) !== value) counts[values.push(value) - 1] = 0;
		counts[values.length - 1] += count;
	};
	const negatives = sorted.findLastIndex((value) => value < 0) + 1;
	for (const value of sorted.subarray(0, negatives)) append(value, 1);
	if (hasZero) append(0, 0);
	for (const value of sorted.subarray(negatives)) append(value, 1);
	const enough = values.length - Number(hasZero) <= binLimit ? 1 : nonzeros.length / binLimit;
	const uppers: number[] = [];
	let size = 0;
	for (let i = 0; i + 1 < values.length; i++) {
		size += counts[i];
		if (size < enough && values[i] !== 0 && values[i + 1] !== 0) continue;
		uppers.push(between(values[i], values[i + 1]));
		size = 0;
	}
	return [...uppers, Number.POSITIVE_INFINITY];
}

/** The first bin from `first` on whose highest value is not below `value`; there is one before `end`. */
function binOf(value: number, uppers: Float64Array, first: number, end: number): number {
	let [low, high] = [first, end - 1];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (uppers[middle] < value) low = middle + 1;
		else high = middle;
	}
	return low;
}

function binsOf({ starts, values }: SparseColumns, rows: number): Bins {
	const width = starts.length - 1;
	const firsts = sharedIntegers(width + 1);
	const uppers: number[] = [];
	for (let column = 0; column < width; column++) {
		const nonzeros = values.subarray(starts[column], starts[column + 1]);
		for (const upper of uppersOf(nonzeros, nonzeros.length < rows)) uppers.push(upper);
		firsts[column + 1] = uppers.length;
	}
	const shared = new Float64Array(new SharedArrayBuffer(8 * uppers.length));
	shared.set(uppers);
	const zeros = sharedIntegers(width);
	for (let column = 0; column < width; column++)
		zeros[column] = binOf(0, shared, firsts[column], firsts[column + 1]);
	return { firsts, uppers: shared, zeros };
}

/**
 * Replaces values by bins: those of these rows, or others' (as rows to validate on need those to learn from; columns
 * that these do not have are left out). A row must not have a column twice.
 */
export function binnedRows(rows: SparseRows, others?: Bins): BinnedRows {
	const count = rows.starts.length;
	const nonzeros = columnsOf(rows, others ? others.zeros.length : widthOf(rows));
	const bins = others ?? binsOf(nonzeros, count);
	const { firsts, uppers } = bins;
	const { starts: columnStarts, rows: columnRows, values } = nonzeros;
	const rowStarts = sharedIntegers(count + 1);
	for (const row of columnRows) rowStarts[row + 1]++;
	for (let row = 0; row < count; row++) rowStarts[row + 1] += rowStarts[row];
	const next = rowStarts.slice();
	const entries = sharedIntegers(values.length);
	const columnEntries = sharedIntegers(values.length);
	for (let column = 0; column + 1 < firsts.length; column++)
		for (let i = columnStarts[column]; i < columnStarts[column + 1]; i++) {
			const bin = binOf(values[i], uppers, firsts[column], firsts[column + 1]);
			columnEntries[i] = bin;
			entries[next[columnRows[i]]++] = bin;
		}
	return { bins, rowStarts, entries, columnStarts, columnRows, columnEntries };
}
