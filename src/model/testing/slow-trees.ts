import type { TreeSettings } from "../boosted-trees.js";
import type { Family, Outcomes } from "../glm.js";

interface Node {
	column: number;
	threshold: number;
	value: number;
}

interface Leaf {
	readonly node: number;
	readonly depth: number;
	readonly rows: readonly number[];
}

/** Splits whose scores differ by less, relatively, are equal; the first is taken. */
const rounding = 1e-10;

/** Boosted trees by trying every split of every leaf on the values themselves; the nodes of each tree. */
export function slowTrees(
	{ mean, variance }: Family,
	dense: readonly (readonly number[])[],
	{ events, exposure }: Outcomes,
	offset: Float64Array,
	{ leaves: mostLeaves, depth: mostDepth, learningRate, l2, minHessian, rounds }: TreeSettings,
): Node[][] {
	const counted = dense.map((_, row) => row).filter((row) => exposure[row] !== 0);
	const eta = Array.from(offset);
	const sumsOf = (rows: readonly number[]) => {
		let [gradient, hessian] = [0, 0];
		for (const row of rows) {
			const expected = mean(eta[row]!);
			gradient += exposure[row]! * expected - events[row]!;
			hessian += exposure[row]! * variance(expected);
		}
		return { gradient, hessian };
	};
	const scoreOf = (rows: readonly number[]) => {
		const { gradient, hessian } = sumsOf(rows);
		return gradient ** 2 / (hessian + l2);
	};

	// The start: a Newton step at a time.
	for (let n = 0; n < 100; n++) {
		const { gradient, hessian } = sumsOf(counted);
		const step = Math.max(-1, Math.min(1, -gradient / hessian));
		if (hessian > 0) for (const row of eta.keys()) eta[row]! += step;
	}

	/** Halfway between neighbouring values: from the highest down to 0, then from the lowest up. */
	const thresholdsOf = (column: number) => {
		const values = [...new Set(dense.map((row) => row[column]!))].sort((a, b) => a - b);
		const thresholds = values.slice(1).map((high, i) => (values[i]! + high) / 2);
		return [
			...thresholds.filter((threshold) => threshold >= 0).reverse(),
			...thresholds.filter((threshold) => threshold < 0),
		];
	};

	function bestSplit({ rows, depth }: Leaf) {
		if (depth === mostDepth) return undefined;
		const unsplit = scoreOf(rows);
		let toBeat = unsplit * (1 + rounding);
		let best: ReturnType<typeof candidate> | undefined;
		const candidate = (column: number, threshold: number) => ({
			column,
			threshold,
			left: rows.filter((row) => dense[row]![column]! <= threshold),
			right: rows.filter((row) => dense[row]![column]! > threshold),
			gain: 0,
		});
		for (const column of dense[0]!.keys())
			for (const threshold of thresholdsOf(column)) {
				const split = candidate(column, threshold);
				const sides = [split.left, split.right];
				if (sides.some((side) => sumsOf(side).hessian < minHessian)) continue;
				const score = scoreOf(split.left) + scoreOf(split.right);
				if (!(score > toBeat)) continue;
				toBeat = score * (1 + rounding);
				best = { ...split, gain: score - unsplit };
			}
		return best;
	}

	function tree(): Node[] {
		const nodes: Node[] = [{ column: -1, threshold: 0, value: 0 }];
		let leaves: Leaf[] = [{ node: 0, depth: 0, rows: counted }];
		while (leaves.length < mostLeaves) {
			const splits = leaves.flatMap((leaf) => {
				const split = bestSplit(leaf);
				return split ? [{ leaf, split }] : [];
			});
			if (splits.length === 0) break;
			const { leaf, split } = splits.reduce((best, next) =>
				next.split.gain > best.split.gain ? next : best,
			);
			nodes[leaf.node] = { column: split.column, threshold: split.threshold, value: 0 };
			const sides = [split.left, split.right].map((rows) => ({
				node: nodes.push({ column: -1, threshold: 0, value: 0 }) - 1,
				depth: leaf.depth + 1,
				rows,
			}));
			leaves = [...leaves.filter((other) => other !== leaf), ...sides];
		}
		const steps = leaves.map(({ node, rows }) => {
			const { gradient, hessian } = sumsOf(rows);
			nodes[node]!.value = (-learningRate * gradient) / (hessian + l2);
			return { rows, step: nodes[node]!.value };
		});
		for (const { rows, step } of steps) for (const row of rows) eta[row]! += step;
		return nodes;
	}

	return Array.from({ length: rounds }, tree).filter((nodes) => nodes.length > 1);
}
