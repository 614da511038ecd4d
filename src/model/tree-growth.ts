import type { BinnedRows, Bins } from "./binned-rows.js";

export interface GrowthSettings {
	/** The most leaves of a tree, and the most splits above a leaf. */
	readonly leaves: number;
	readonly depth: number;
	/** The share of a Newton step that a leaf takes. */
	readonly learningRate: number;
	/** ½ l2 · step² of each leaf is added to the loss. */
	readonly l2: number;
	/** The least sum of second derivatives in a leaf: for rates, of expected events. Above 0. */
	readonly minHessian: number;
}

/** A tree, or several, by node. */
export interface TreeNodes<Integers, Numbers> {
	/** The column that a node splits by; −1 for a leaf. */
	readonly columns: Integers;
	/** Rows with values up to this go left. */
	readonly thresholds: Numbers;
	/** The left child of a node; the right one follows it. */
	readonly lefts: Integers;
	/** What a leaf adds to η. */
	readonly values: Numbers;
}

/** First and second derivatives of the loss by η. */
export interface Derivatives {
	readonly gradients: Float64Array; // [rows]
	readonly hessians: Float64Array; // [rows]
}

interface Sums {
	readonly gradient: number;
	readonly hessian: number;
}

interface Split {
	/** Twice what it takes off the loss. */
	readonly gain: number;
	readonly column: number;
	/** The last bin that goes left. */
	readonly bin: number;
	readonly left: Sums;
}

interface Leaf {
	readonly node: number;
	readonly depth: number;
	readonly sums: Sums;
	readonly train: Int32Array;
	readonly valid: Int32Array;
	/** Sums of the rows in each bin but those of zero. */
	readonly histogram: Float64Array; // [bins, 2]
	split?: Split | undefined;
}

interface Grown {
	readonly nodes: TreeNodes<number[], number[]>;
	readonly leaves: readonly Pick<Leaf, "node" | "train" | "valid">[];
}

/** Numbers per bin of a histogram: gradient, Hessian. */
const stride = 2;
/** Of sums: splits whose scores differ by less are equal, and the first of them is taken. */
const rounding = 1e-10;
const directions = [-1, 1];

/** Twice what the best step of a leaf takes off the loss. */
const scoreOf = (gradient: number, hessian: number, l2: number) =>
	(gradient * gradient) / (hessian + l2);

/** What a leaf adds to η: a share of a Newton step. */
const stepOf = ({ gradient, hessian }: Sums, { learningRate, l2 }: GrowthSettings) =>
	hessian + l2 > 0 ? (-learningRate * gradient) / (hessian + l2) : 0;

const difference = (all: Sums, part: Sums): Sums => ({
	gradient: all.gradient - part.gradient,
	hessian: all.hessian - part.hessian,
});

function sumsOf(rows: Int32Array, { gradients, hessians }: Derivatives): Sums {
	let [gradient, hessian] = [0, 0];
	for (let i = 0; i < rows.length; i++) {
		gradient += gradients[rows[i]];
		hessian += hessians[rows[i]];
	}
	return { gradient, hessian };
}

function addRows(
	histogram: Float64Array,
	rows: Int32Array,
	{ rowStarts, entries }: BinnedRows,
	{ gradients, hessians }: Derivatives,
): void {
	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];
		const gradient = gradients[row];
		const hessian = hessians[row];
		const end = rowStarts[row + 1];
		for (let entry = rowStarts[row]; entry < end; entry++) {
			const index = stride * entries[entry];
			histogram[index] += gradient;
			histogram[index + 1] += hessian;
		}
	}
}

function subtract(numbers: Float64Array, others: Float64Array): void {
	for (let i = 0; i < numbers.length; i++) numbers[i] -= others[i];
}

/** The split that lowers the loss most. Bins are summed from both ends of a column toward that of zero. */
function bestSplit(
	{ histogram, sums }: Leaf,
	{ firsts, zeros }: Bins,
	{ l2, minHessian }: GrowthSettings,
): Split | undefined {
	const unsplit = scoreOf(sums.gradient, sums.hessian, l2);
	let toBeat = unsplit * (1 + rounding);
	let best: Split | undefined;
	for (let column = 0; column < zeros.length; column++) {
		const zero = zeros[column];
		for (const step of directions) {
			let gradient = 0;
			let hessian = 0;
			let bin = step < 0 ? firsts[column + 1] - 1 : firsts[column];
			for (; bin !== zero; bin += step) {
				const index = stride * bin;
				// No rows.
				if (histogram[index + 1] === 0) continue;
				gradient += histogram[index];
				hessian += histogram[index + 1];
				if (hessian < minHessian) continue;
				if (sums.hessian - hessian < minHessian) break;
				const score =
					scoreOf(gradient, hessian, l2) +
					scoreOf(sums.gradient - gradient, sums.hessian - hessian, l2);
				if (!(score > toBeat)) continue;
				toBeat = score * (1 + rounding);
				const gain = score - unsplit;
				const side = { gradient, hessian };
				best =
					step < 0
						? { gain, column, bin: bin - 1, left: difference(sums, side) }
						: { gain, column, bin, left: side };
			}
		}
	}
	return best;
}

/** The rows that go left, and those that go right: parts of the same array, whose order changes. */
function divide(
	rows: Int32Array,
	{ rowStarts, columnStarts, columnRows, columnEntries, bins }: BinnedRows,
	{ column, bin }: Split,
): [Int32Array, Int32Array] {
	const goesRight = new Uint8Array(rowStarts.length - 1).fill(Number(bins.zeros[column] > bin));
	for (let i = columnStarts[column]; i < columnStarts[column + 1]; i++)
		goesRight[columnRows[i]] = Number(columnEntries[i] > bin);
	const right = new Int32Array(rows.length);
	let [lefts, rights] = [0, 0];
	for (let i = 0; i < rows.length; i++) {
		const row = rows[i];
		if (goesRight[row] === 1) right[rights++] = row;
		else rows[lefts++] = row;
	}
	rows.set(right.subarray(0, rights), lefts);
	return [rows.subarray(0, lefts), rows.subarray(lefts)];
}

/** The leaf whose split gains most. */
const bestOf = (leaves: readonly Leaf[]) =>
	leaves.reduce((best, leaf) => ((leaf.split?.gain ?? 0) > (best.split?.gain ?? 0) ? leaf : best));

/** Grows trees on the same rows, one after the other. */
export function treeGrowth(train: BinnedRows, valid: BinnedRows, settings: GrowthSettings) {
	const { bins } = train;
	const { leaves: mostLeaves, depth: mostDepth, minHessian } = settings;
	const histograms = Array.from(
		{ length: mostLeaves },
		() => new Float64Array(stride * bins.uppers.length),
	);
	const mayBeSplit = ({ depth, sums }: Leaf) => depth < mostDepth && sums.hessian >= 2 * minHessian;
	const findSplit = (leaf: Leaf) => {
		if (mayBeSplit(leaf)) leaf.split = bestSplit(leaf, bins, settings);
	};

	/** The larger child's histogram is what the smaller one leaves of their parent's, and takes its place. */
	function childrenOf(parent: Leaf, split: Split, node: number, spare: Float64Array) {
		const depth = parent.depth + 1;
		const [trainLeft, trainRight] = divide(parent.train, train, split);
		const [validLeft, validRight] = divide(parent.valid, valid, split);
		const isLeftSmaller = trainLeft.length < trainRight.length;
		const left: Leaf = {
			node,
			depth,
			sums: split.left,
			train: trainLeft,
			valid: validLeft,
			histogram: isLeftSmaller ? spare : parent.histogram,
		};
		const right: Leaf = {
			node: node + 1,
			depth,
			sums: difference(parent.sums, split.left),
			train: trainRight,
			valid: validRight,
			histogram: isLeftSmaller ? parent.histogram : spare,
		};
		return { left, right, smaller: isLeftSmaller ? left : right };
	}

	/** Splits the leaf that gains most, until there are enough. Rows change their order. */
	return (trainRows: Int32Array, validRows: Int32Array, derivatives: Derivatives): Grown => {
		const columns = [-1];
		const thresholds = [0];
		const lefts = [0];
		const root: Leaf = {
			node: 0,
			depth: 0,
			sums: sumsOf(trainRows, derivatives),
			train: trainRows,
			valid: validRows,
			histogram: histograms[0].fill(0),
		};
		addRows(root.histogram, root.train, train, derivatives);
		findSplit(root);
		const leaves = [root];
		while (leaves.length < mostLeaves) {
			const parent = bestOf(leaves);
			const { node, split, histogram } = parent;
			if (!split) break;
			columns[node] = split.column;
			thresholds[node] = bins.uppers[split.bin];
			lefts[node] = columns.length;
			columns.push(-1, -1);
			thresholds.push(0, 0);
			lefts.push(0, 0);
			const spare = histograms[leaves.length];
			const { left, right, smaller } = childrenOf(parent, split, lefts[node], spare);
			leaves.splice(leaves.indexOf(parent), 1, left, right);
			if (leaves.length === mostLeaves || !(mayBeSplit(left) || mayBeSplit(right))) continue;
			addRows(spare.fill(0), smaller.train, train, derivatives);
			subtract(histogram, spare);
			findSplit(left);
			findSplit(right);
		}
		const values = columns.map(() => 0);
		for (const { node, sums } of leaves) values[node] = stepOf(sums, settings);
		return { nodes: { columns, thresholds, lefts, values }, leaves };
	};
}
