import type { BinnedRows } from "./binned-rows.js";
import { type Family, lossOf, type Outcomes, type SparseRows } from "./glm.js";
import {
	type Derivatives,
	type GrowthSettings,
	type TreeNodes,
	treeGrowth,
} from "./tree-growth.js";

/** Regression trees, whose values are added up. Plain arrays, which a thread can return. */
export interface Trees extends TreeNodes<Int32Array, Float64Array> {
	/** η before the first tree, without the offset of a row. */
	readonly start: number;
	/** The first node of each tree, its root, and the number of all nodes. */
	readonly roots: Int32Array; // [trees + 1]
}

export interface TreeSettings extends GrowthSettings {
	/** The most trees. Boosting ends sooner once `patience` trees in a row have not lowered the validation loss. */
	readonly rounds: number;
	readonly patience: number;
}

/** For 100 or more events among thousands of rows: trees from small to large, of which validation chooses. */
export const treeCandidates: readonly TreeSettings[] = [4, 8, 16].map((leaves) => ({
	leaves,
	depth: 6,
	learningRate: 0.1,
	l2: 10,
	minHessian: 1,
	rounds: 300,
	patience: 20,
}));

interface TreeRows {
	readonly rows: BinnedRows;
	readonly outcomes: Outcomes;
	/** What is known of the η of each row beforehand, as the logarithm of a rate by age and sex. Default: 0. */
	readonly offset?: Float64Array | undefined;
}

/** Rows to learn from, and rows on which the number of trees is chosen. Both have the same bins. */
export type TreeData = Readonly<Record<"train" | "valid", TreeRows>>;

export interface FittedTrees {
	readonly trees: Trees;
	/** Σ −log likelihood of the validation rows. */
	readonly validLoss: number;
	/** The same of the first trees, by their number from 0; later trees did not help. */
	readonly validLosses: readonly number[];
}

/** Of Newton's method for the constant to start from. */
const maxStartSteps = 50;
const startTolerance = 1e-12;

const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);

const zeroDerivatives = (rows: number): Derivatives => ({
	gradients: new Float64Array(rows),
	hessians: new Float64Array(rows),
});

/** Derivatives of the loss by η; 0 for rows that do not count. */
function setDerivatives(
	{ gradients, hessians }: Derivatives,
	{ mean, variance }: Family,
	{ events, exposure }: Outcomes,
	eta: Float64Array,
): void {
	for (let row = 0; row < eta.length; row++) {
		if (exposure[row] === 0) continue;
		const expected = mean(eta[row]);
		gradients[row] = exposure[row] * expected - events[row];
		hessians[row] = exposure[row] * variance(expected);
	}
}

/** The constant that, added to the offsets, minimises the loss: Newton's method, in steps of at most 1. */
function startOf(family: Family, outcomes: Outcomes, offset: Float64Array): number {
	const derivatives = zeroDerivatives(offset.length);
	let start = 0;
	for (let n = 0; n < maxStartSteps; n++) {
		const eta = offset.map((known) => known + start);
		setDerivatives(derivatives, family, outcomes, eta);
		const hessian = sum(derivatives.hessians);
		if (hessian === 0) break;
		const step = Math.max(-1, Math.min(1, -sum(derivatives.gradients) / hessian));
		start += step;
		if (Math.abs(step) < startTolerance) break;
	}
	return start;
}

/** Rows that count, with the η that they have reached. */
function boostedRows({ outcomes, offset }: TreeRows, start: number) {
	const counted = Int32Array.from(outcomes.exposure.keys()).filter(
		(row) => outcomes.exposure[row] !== 0,
	);
	return {
		eta: Float64Array.from(outcomes.events, (_, row) => start + (offset?.[row] ?? 0)),
		counted,
		/** The same in another order. */
		order: counted.slice(),
	};
}

function flattened(start: number, trees: readonly TreeNodes<number[], number[]>[]): Trees {
	const roots = new Int32Array(trees.length + 1);
	for (const [n, { columns }] of trees.entries()) roots[n + 1] = roots[n] + columns.length;
	return {
		start,
		roots,
		columns: Int32Array.from(trees.flatMap((tree) => tree.columns)),
		thresholds: Float64Array.from(trees.flatMap((tree) => tree.thresholds)),
		lefts: Int32Array.from(trees.flatMap((tree, n) => tree.lefts.map((left) => roots[n] + left))),
		values: Float64Array.from(trees.flatMap((tree) => tree.values)),
	};
}

/**
 * Gradient boosting with second derivatives: each tree is a Newton step whose leaves are shrunk.
 *
 * Trees after the one with the least validation loss are left out.
 */
export function fitTrees(
	family: Family,
	{ train, valid }: TreeData,
	settings: TreeSettings,
): FittedTrees {
	const count = train.outcomes.events.length;
	const start = startOf(family, train.outcomes, train.offset ?? new Float64Array(count));
	const [learning, validating] = [boostedRows(train, start), boostedRows(valid, start)];
	const derivatives = zeroDerivatives(count);
	const grow = treeGrowth(train.rows, valid.rows, settings);
	const trees: TreeNodes<number[], number[]>[] = [];
	let chosen = 0;
	let validLoss = lossOf(family, valid.outcomes, validating.eta);
	const validLosses = [validLoss];
	while (trees.length < settings.rounds && trees.length - chosen < settings.patience) {
		setDerivatives(derivatives, family, train.outcomes, learning.eta);
		learning.order.set(learning.counted);
		const { nodes, leaves } = grow(learning.order, validating.order, derivatives);
		if (leaves.length === 1) break;
		trees.push(nodes);
		for (const leaf of leaves) {
			for (const row of leaf.train) learning.eta[row] += nodes.values[leaf.node];
			for (const row of leaf.valid) validating.eta[row] += nodes.values[leaf.node];
		}
		const loss = lossOf(family, valid.outcomes, validating.eta);
		validLosses.push(loss);
		if (!(loss < validLoss)) continue;
		chosen = trees.length;
		validLoss = loss;
	}
	return { trees: flattened(start, trees.slice(0, chosen)), validLoss, validLosses };
}

/** η of each row: the log-odds of a probability, the logarithm of a rate. */
export function predictTrees(
	trees: Trees,
	{ starts, ends, columns, values }: SparseRows,
	offset?: Float64Array,
): Float64Array {
	const { start, roots, thresholds, lefts } = trees;
	const width = trees.columns.reduce((most, column) => Math.max(most, column + 1), 0);
	/** A row with its zeros. */
	const dense = new Float64Array(width);
	return Float64Array.from(starts, (first, row) => {
		const end = ends[row];
		for (let i = first; i < end; i++) if (columns[i] < width) dense[columns[i]] = values[i];
		let eta = start + (offset?.[row] ?? 0);
		for (let tree = 0; tree + 1 < roots.length; tree++) {
			let node = roots[tree];
			while (trees.columns[node] >= 0)
				node = lefts[node] + Number(dense[trees.columns[node]] > thresholds[node]);
			eta += trees.values[node];
		}
		for (let i = first; i < end; i++) if (columns[i] < width) dense[columns[i]] = 0;
		return eta;
	});
}
