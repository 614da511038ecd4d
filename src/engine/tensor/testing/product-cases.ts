import type { FixedShape, Tensor } from "../index.js";
import * as graph from "../index.js";
import { type Plain, tabulate, total } from "./arrays.js";
import { type Case, table } from "./cases.js";

function product(a: FixedShape, b: FixedShape, transposeA = false, transposeB = false): Case {
	return {
		given: { a, b },
		build: ({ a, b }) => graph.matmul(a, b, { transposeA, transposeB }),
		expected: ({ a, b }) => {
			const [rows, inner] = a.shape.slice(-2) as [number, number];
			const [m, k] = transposeA ? [inner, rows] : [rows, inner];
			const n = b.shape.at(transposeB ? -2 : -1) as number;
			const batch = graph.broadcastShape(a.shape.slice(0, -2), b.shape.slice(0, -2)) as FixedShape;
			return tabulate([...batch, m, n], (...place) => {
				const [i, j] = place.slice(-2) as [number, number];
				const outer = place.slice(0, -2);
				return total(
					k,
					(l) =>
						a.at(...outer, ...(transposeA ? [l, i] : [i, l])) *
						b.at(...outer, ...(transposeB ? [j, l] : [l, j])),
				);
			});
		},
	};
}

/** The same product with its sides stored transposed or not. */
const flags = (batchA: FixedShape, batchB: FixedShape, m: number, k: number, n: number): Case[] =>
	[false, true].flatMap((transposeA) =>
		[false, true].map((transposeB) =>
			product(
				[...batchA, ...(transposeA ? [k, m] : [m, k])],
				[...batchB, ...(transposeB ? [n, k] : [k, n])],
				transposeA,
				transposeB,
			),
		),
	);

function softmaxCase(
	operation: (x: Tensor, axis?: number) => Tensor,
	value: (x: number, sum: number) => number,
	shape: FixedShape,
	axis?: number,
): Case {
	const at = (axis ?? -1) < 0 ? (axis ?? -1) + shape.length : (axis as number);
	return {
		given: { x: { shape, from: -3, to: 3 } },
		build: ({ x }) => operation(x, axis),
		expected: ({ x }) =>
			tabulate(shape, (...place) => {
				const other = (i: number) => x.at(...place.map((p, a) => (a === at ? i : p)));
				return value(
					x.at(...place),
					total(shape[at], (i) => Math.exp(other(i))),
				);
			}),
	};
}

const softmaxCases = (
	operation: (x: Tensor, axis?: number) => Tensor,
	value: (x: number, sum: number) => number,
): [Case, ...Case[]] => [
	softmaxCase(operation, value, [2, 3, 5]),
	softmaxCase(operation, value, [2, 3, 5], -2),
	softmaxCase(operation, value, [7, 1], 0),
	softmaxCase(operation, value, [7, 1], 1),
];

const turn = (x: Plain, cosine: Plain, sine: Plain): Plain => {
	const half = x.shape[3] / 2;
	return tabulate(x.shape, (b, h, l, d) => {
		const i = d % half;
		const [c, s] = [cosine.at(b, l, i), sine.at(b, l, i)];
		const [first, second] = [x.at(b, h, l, i), x.at(b, h, l, i + half)];
		return d < half ? first * c - second * s : first * s + second * c;
	});
};

const rotaryCase = (batch: number, heads: number, length: number, dim: number): Case => ({
	given: {
		x: [batch, heads, length, dim],
		cosine: [batch, length, dim / 2],
		sine: [batch, length, dim / 2],
	},
	build: ({ x, cosine, sine }) => graph.rotary(x, cosine, sine),
	expected: ({ x, cosine, sine }) => turn(x, cosine, sine),
});

export const productCases = table({
	matmul: [
		product([1, 1], [1, 1]),
		...flags([], [], 3, 5, 2),
		...flags([2], [2], 1, 3, 5),
		...flags([2, 1], [3], 2, 5, 3),
		...flags([], [3], 2, 1, 3),
		...flags([2, 3], [], 2, 5, 7),
		...flags([], [], 33, 37, 41),
		...flags([2], [], 35, 33, 32),
		...flags([2], [2], 33, 34, 35),
	],
	softmax: softmaxCases(graph.softmax, (x, sum) => Math.exp(x) / sum),
	logSoftmax: softmaxCases(graph.logSoftmax, (x, sum) => x - Math.log(sum)),
	rotary: [rotaryCase(2, 3, 5, 4), rotaryCase(1, 1, 1, 2), rotaryCase(3, 2, 1, 10)],
});
