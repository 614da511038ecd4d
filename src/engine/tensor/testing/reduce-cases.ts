import type { Tensor } from "../index.js";
import * as graph from "../index.js";
import { type Plain, places, plain } from "./arrays.js";
import { type Case, type Given, table } from "./cases.js";

type Reduction = (x: Tensor, axes?: number | readonly number[], keep?: boolean) => Tensor;

/** The values along `axes` (counted from the front) gathered for each place of the others. */
function along(
	x: Plain,
	axes: readonly number[],
	keep: boolean,
	value: (list: number[]) => number,
): Plain {
	const groups = new Map<string, number[]>();
	for (const place of places(x.shape)) {
		const key = place.filter((_, i) => !axes.includes(i)).join();
		groups.set(key, [...(groups.get(key) ?? []), x.at(...place)]);
	}
	const shape = x.shape.flatMap((n, i) => (axes.includes(i) ? (keep ? [1] : []) : [n]));
	return plain(shape, [...groups.values()].map(value));
}

function cases(
	operation: Reduction,
	value: (list: number[]) => number,
): readonly [Case, ...Case[]] {
	const one = (
		given: Given,
		axes: number | number[] | undefined,
		counted: number[],
		keep: boolean,
	): Case => ({
		given: { x: given },
		build: ({ x }) => operation(x, axes, keep),
		expected: ({ x }) => along(x, counted, keep, value),
	});
	return [
		one([3, 1, 5], -1, [2], false),
		one([3, 2, 5], [0, -1], [0, 2], true),
		one([3, 2, 5], [-1, 0], [0, 2], false),
		one([7, 1], 1, [1], true),
		one([2, 3], undefined, [0, 1], false),
		one([2, 3], undefined, [0, 1], true),
		one([], undefined, [], false),
	];
}

const sum = (list: number[]) => list.reduce((a, b) => a + b, 0);
const mean = (list: number[]) => sum(list) / list.length;

export const reduceCases = table({
	sum: cases(graph.sum, sum),
	mean: cases(graph.mean, mean),
	max: cases(graph.max, (list) => Math.max(...list)),
	sumSquares: cases(graph.sumSquares, (list) => sum(list.map((x) => x * x))),
	variance: cases(graph.variance, (list) => mean(list.map((x) => (x - mean(list)) ** 2))),
});
