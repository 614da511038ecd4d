import * as graph from "../index.js";
import { places, tabulate, total } from "./arrays.js";
import { type Case, indices, table } from "./cases.js";

function cumulative(axis: number, exclusive: boolean, reverse: boolean): Case {
	return {
		given: { x: [2, 5, 3] },
		build: ({ x }) => graph.cumulativeSum(x, axis, { exclusive, reverse }),
		expected: ({ x }) =>
			tabulate([2, 5, 3], (i, j, k) => {
				const at = axis < 0 ? axis + 3 : axis;
				const place = [i, j, k];
				const here = place[at];
				return total(x.shape[at], (n) => {
					const counts = n === here ? !exclusive : reverse ? n > here : n < here;
					return counts ? x.at(...place.map((p, a) => (a === at ? n : p))) : 0;
				});
			}),
	};
}

const isInside = (i: number, j: number, t: number, shift: number) => j < t && t <= i + shift;

function segmentSums(rows: number, n: number, shift: 0 | -1): Case {
	return {
		given: { x: [rows, n] },
		build: ({ x }) => graph.segmentSums(x, shift),
		expected: ({ x }) =>
			tabulate([rows, n, n], (row, i, j) =>
				total(n, (t) => (isInside(i, j, t, shift) ? x.at(row, t) : 0)),
			),
	};
}

function segmentTotals(rows: number, n: number, shift: 0 | -1): Case {
	return {
		given: { x: [rows, n, n] },
		build: ({ x }) => graph.segmentTotals(x, shift),
		expected: ({ x }) =>
			tabulate([rows, n], (row, t) =>
				total(n, (i) => total(n, (j) => (isInside(i, j, t, shift) ? x.at(row, i, j) : 0))),
			),
	};
}

export const shapeCases = table({
	reshape: [
		{
			given: { x: [2, 3, 5] },
			build: ({ x }) => graph.mul(graph.reshape(x, [5, -1]), 1),
			expected: ({ x }) => tabulate([5, 6], (i, j) => x.data[i * 6 + j]),
		},
		{
			given: { x: [] },
			build: ({ x }) => graph.reshape(x, [1, 1]),
			expected: ({ x }) => x.data,
		},
	],
	transpose: [
		{
			given: { x: [2, 3, 5] },
			build: ({ x }) => graph.transpose(x, [2, 0, 1]),
			expected: ({ x }) => tabulate([5, 2, 3], (k, i, j) => x.at(i, j, k)),
		},
		{
			given: { x: [2, 1, 5] },
			build: ({ x }) => graph.transpose(x),
			expected: ({ x }) => tabulate([2, 5, 1], (i, k, j) => x.at(i, j, k)),
		},
		{
			given: { x: [2, 3, 1, 5] },
			build: ({ x }) => graph.transpose(x, [1, 2, 3, 0]),
			expected: ({ x }) => tabulate([3, 1, 5, 2], (j, k, l, i) => x.at(i, j, k, l)),
		},
	],
	placesAlong: [
		{
			given: { x: [2, 5] },
			build: ({ x }, dtype) => graph.mul(x, graph.cast(graph.placesAlong(x, 1), dtype)),
			expected: ({ x }) => tabulate([2, 5], (i, j) => j * x.at(i, j)),
		},
	],
	chunked: [
		{
			given: { x: [2, 1, 5, 3] },
			build: ({ x }) => graph.chunked(x, 2, 3),
			expected: ({ x }) =>
				tabulate([2, 1, 3, 2, 3], (i, j, chunk, k, l) =>
					2 * chunk + k < 5 ? x.at(i, j, 2 * chunk + k, l) : 0,
				),
		},
	],
	expand: [
		{
			given: { x: [3, 1] },
			build: ({ x }) => graph.expand(x, [2, 3, 5]),
			expected: ({ x }) => tabulate([2, 3, 5], (_, j) => x.at(j, 0)),
		},
		{
			given: { x: [] },
			build: ({ x }) => graph.expand(x, [2, 1]),
			expected: ({ x }) => [x.at(), x.at()],
		},
	],
	slice: [
		{
			given: { x: [2, 7, 3] },
			build: ({ x }) => graph.slice(x, -2, 1, -2),
			expected: ({ x }) => tabulate([2, 4, 3], (i, j, k) => x.at(i, j + 1, k)),
		},
		{
			given: { x: [7] },
			build: ({ x }) => graph.slice(x, 0, -1),
			expected: ({ x }) => [x.at(6)],
		},
		{
			given: { x: indices(100, 5) },
			build: ({ x }) => graph.slice(x, 0, 2),
			expected: ({ x }) => x.data.slice(2),
		},
	],
	pad: [
		{
			given: { x: [2, 3, 1] },
			build: ({ x }) => graph.pad(x, -2, 2, 1),
			expected: ({ x }) => tabulate([2, 6, 1], (i, j) => (j >= 2 && j < 5 ? x.at(i, j - 2, 0) : 0)),
		},
		{
			given: { x: [1] },
			build: ({ x }) => graph.pad(x, 0, 0, 3),
			expected: ({ x }) => [x.at(0), 0, 0, 0],
		},
	],
	concat: [
		{
			given: { a: [2, 1, 3], b: [2, 5, 3], c: [2, 2, 3] },
			build: ({ a, b, c }) => graph.concat([a, b, c, a], -2),
			expected: ({ a, b, c }) =>
				tabulate([2, 9, 3], (i, j, k) =>
					j < 1 || j === 8 ? a.at(i, 0, k) : j < 6 ? b.at(i, j - 1, k) : c.at(i, j - 6, k),
				),
		},
	],
	stack: [
		{
			given: { a: [2, 3], b: [2, 3] },
			build: ({ a, b }) => graph.stack([a, b, b], -1),
			expected: ({ a, b }) => tabulate([2, 3, 3], (i, j, k) => (k === 0 ? a : b).at(i, j)),
		},
		{
			given: { a: [], b: [] },
			build: ({ a, b }) => graph.stack([a, b], 0),
			expected: ({ a, b }) => [a.at(), b.at()],
		},
	],
	split: [
		{
			given: { x: [3, 6] },
			build: ({ x }) => {
				const [a, b, c] = graph.split(x, -1, [1, 3, 2]);
				return graph.concat([graph.square(c), a, b], 1);
			},
			expected: ({ x }) =>
				tabulate([3, 6], (i, j) => (j < 2 ? x.at(i, j + 4) ** 2 : x.at(i, j - 2))),
		},
	],
	roll: [-2, 1, 0, 5, 9].map(
		(by): Case => ({
			given: { x: [2, 5] },
			build: ({ x }) => graph.roll(x, -1, by),
			expected: ({ x }) => tabulate([2, 5], (i, j) => x.at(i, (j - by + 10) % 5)),
		}),
	) as [Case, ...Case[]],
	flip: [
		{
			given: { x: [2, 5, 3] },
			build: ({ x }) => graph.flip(x, 1),
			expected: ({ x }) => tabulate([2, 5, 3], (i, j, k) => x.at(i, 4 - j, k)),
		},
		{
			given: { x: [2, 4] },
			build: ({ x }) => graph.flip(x, -1),
			expected: ({ x }) => tabulate([2, 4], (i, j) => x.at(i, 3 - j)),
		},
	],
	cumulativeSum: [
		cumulative(1, false, false),
		cumulative(-2, true, false),
		cumulative(0, false, true),
		cumulative(-1, true, true),
	],
	segmentSums: [segmentSums(2, 5, 0), segmentSums(3, 4, -1), segmentSums(1, 66, -1)],
	segmentTotals: [segmentTotals(2, 5, 0), segmentTotals(3, 4, -1), segmentTotals(1, 66, 0)],
	constant: [
		{
			given: { x: [2, 3] },
			build: ({ x }, dtype) => graph.mul(x, graph.constant([1, -2, 0.5], [3], dtype)),
			expected: ({ x }) => tabulate([2, 3], (i, j) => x.at(i, j) * [1, -2, 0.5][j]),
		},
	],
	filled: [
		{
			given: {},
			build: (_, dtype) => graph.filled(0.25, [2, 3], dtype),
			expected: () => places([2, 3]).map(() => 0.25),
		},
	],
	scalar: [
		{
			given: {},
			build: (_, dtype) => graph.scalar(-3.5, dtype),
			expected: () => [-3.5],
		},
	],
});
