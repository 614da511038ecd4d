import * as graph from "../index.js";
import { places, plain, tabulate, total } from "./arrays.js";
import { type Case, indices, table } from "./cases.js";

const topCase = (count: number, axis: number): Case => ({
	given: { x: [3, 7, 2] },
	build: ({ x }) => {
		const { values, indices } = graph.topK(x, count, axis);
		// The places too, once the values' gradient has nothing to do with them.
		return graph.concat([values, graph.cast(indices, x.dtype)], 0);
	},
	expected: ({ x }) => {
		const at = axis < 0 ? axis + 3 : axis;
		const shape = x.shape.map((n, i) => (i === at ? count : n));
		const sorted = (place: number[]) =>
			Array.from({ length: x.shape[at] }, (_, i) => ({
				i,
				value: x.at(...place.map((p, a) => (a === at ? i : p))),
			})).sort((a, b) => b.value - a.value)[place[at]];
		return [
			...places(shape).map((place) => sorted(place).value),
			...places(shape).map((place) => sorted(place).i),
		];
	},
});

export const indexCases = table({
	gather: [
		{
			given: { x: [5, 3], i: indices(5, 2, 7) },
			build: ({ x, i }) => graph.gather(x, i),
			expected: ({ x, i }) => tabulate([2, 7, 3], (a, b, c) => x.at(i.at(a, b), c)),
		},
		{
			given: { x: [2, 5, 3], i: indices(5, 7) },
			build: ({ x, i }) => graph.gather(x, i, -2),
			expected: ({ x, i }) => tabulate([2, 7, 3], (a, b, c) => x.at(a, i.at(b), c)),
		},
		{
			given: { x: [2, 1, 5], i: indices(5, 3, 2) },
			build: ({ x, i }) => graph.gather(x, i, 2),
			expected: ({ x, i }) => tabulate([2, 1, 3, 2], (a, _, b, c) => x.at(a, 0, i.at(b, c))),
		},
		{
			given: { x: [7], i: indices(7) },
			build: ({ x, i }) => graph.gather(x, i),
			expected: ({ x, i }) => [x.at(i.at())],
		},
		{
			given: { x: indices(50, 5), i: indices(5, 3) },
			build: ({ x, i }) => graph.gather(x, i),
			expected: ({ x, i }) => i.data.map((n) => x.at(n)),
		},
	],
	scatterAdd: [
		{
			given: { x: [7, 2, 3], i: indices(5, 7) },
			build: ({ x, i }) => graph.scatterAdd(x, i, 5),
			expected: ({ x, i }) =>
				tabulate([5, 2, 3], (r, b, c) => total(7, (n) => (i.at(n) === r ? x.at(n, b, c) : 0))),
		},
		{
			given: { x: [5], i: indices(3, 5) },
			build: ({ x, i }) => graph.scatterAdd(x, i, 3),
			expected: ({ x, i }) => tabulate([3], (r) => total(5, (n) => (i.at(n) === r ? x.at(n) : 0))),
		},
	],
	pick: [
		{
			given: { x: [2, 5, 3], i: indices(5, 2, 7, 3) },
			build: ({ x, i }) => graph.pick(x, i, -2),
			expected: ({ x, i }) => tabulate([2, 7, 3], (a, b, c) => x.at(a, i.at(a, b, c), c)),
		},
		{
			given: { x: [3, 5], i: indices(5, 3, 1) },
			build: ({ x, i }) => graph.pick(x, i, 1),
			expected: ({ x, i }) => tabulate([3, 1], (a) => x.at(a, i.at(a, 0))),
		},
	],
	placeAdd: [
		{
			given: { x: [2, 7, 3], i: indices(5, 2, 7, 3) },
			build: ({ x, i }) => graph.placeAdd(x, i, -2, 5),
			expected: ({ x, i }) =>
				tabulate([2, 5, 3], (a, b, c) =>
					total(7, (n) => (i.at(a, n, c) === b ? x.at(a, n, c) : 0)),
				),
		},
	],
	topK: [topCase(3, 1), topCase(1, -1), topCase(3, 0)],
	oneHot: [
		{
			given: { i: indices(5, 2, 3) },
			build: ({ i }, dtype) => graph.oneHot(i, 5, dtype),
			expected: ({ i }) =>
				plain(
					[2, 3, 5],
					i.data.flatMap((n) => [0, 1, 2, 3, 4].map((k) => Number(k === n))),
				),
		},
	],
});
