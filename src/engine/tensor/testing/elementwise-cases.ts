import type { FixedShape, Operand, Tensor } from "../index.js";
import * as graph from "../index.js";
import { type Plain, tabulate } from "./arrays.js";
import { bools, type Case, type Given, indices, positive, table } from "./cases.js";

const awkward: FixedShape = [3, 1, 5];
const other: FixedShape = [7, 1];

type Map1 = (x: number) => number;
type Map2 = (x: number, y: number) => number;

const broadcast = (a: Plain, b: Plain, value: Map2): Plain => {
	const shape = graph.broadcastShape(a.shape, b.shape) as FixedShape;
	return tabulate(shape, (...place) => value(a.at(...place), b.at(...place)));
};

function unary(operation: (x: Tensor) => Tensor, value: Map1, given: Given = awkward): Case {
	return {
		given: { x: given },
		build: ({ x }) => operation(x),
		expected: ({ x }) => tabulate(x.shape, (...place) => value(x.at(...place))),
	};
}

function binary(
	operation: (a: Operand, b: Operand) => Tensor,
	value: Map2,
	given: { readonly a: Given; readonly b: Given } = { a: awkward, b: other },
): readonly [Case, ...Case[]] {
	const pair: Case = {
		given,
		build: ({ a, b }) => operation(a, b),
		expected: ({ a, b }) => broadcast(a, b, value),
	};
	const withNumbers: Case = {
		given: { a: given.a },
		build: ({ a }) => graph.stack([operation(a, 1.25), operation(0.75, a)], 0),
		expected: ({ a }) => [
			...a.data.map((x) => value(x, 1.25)),
			...a.data.map((x) => value(0.75, x)),
		],
	};
	const alone: Case = { ...pair, given: { a: given.a, b: { shape: [], values: [0.8] } } };
	return [pair, withNumbers, alone];
}

function comparison(
	operation: (a: Operand, b: Operand) => Tensor,
	value: (x: number, y: number) => boolean,
): readonly [Case, Case] {
	const shared = {
		build: ({ a, b }: Readonly<Record<string, Tensor>>) => operation(a, b),
		expected: ({ a, b }: Readonly<Record<string, Plain>>) =>
			broadcast(a, b, (x, y) => Number(value(x, y))),
	} as const;
	return [
		{ ...shared, given: { a: indices(3, 2, 1, 5), b: indices(3, 3, 1) } },
		{ ...shared, given: { a: [1, 7], b: { shape: [7], values: [0, 1, -1, 0.5, 2, -2, 0] } } },
	];
}

const logical = (operation: (a: Operand, b: Operand) => Tensor, value: Map2): Case => ({
	given: { a: bools(5, 1, 3), b: bools(2, 1) },
	build: ({ a, b }) => operation(a, b),
	expected: ({ a, b }) => broadcast(a, b, value),
});

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const gelu = (x: number) =>
	0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

const around = (...values: number[]): Given => ({ shape: [values.length], values });

export const elementwiseCases = table({
	add: binary(graph.add, (x, y) => x + y),
	sub: binary(graph.sub, (x, y) => x - y),
	mul: [
		...binary(graph.mul, (x, y) => x * y),
		{
			given: { a: indices(9, 3, 1), b: indices(7, 1, 2) },
			build: ({ a, b }) => graph.mul(graph.sub(a, 4), b),
			expected: ({ a, b }) => broadcast(a, b, (x, y) => (x - 4) * y),
		},
	],
	div: [
		...binary(graph.div, (x, y) => x / y, { a: positive(3, 1, 5), b: positive(7, 1) }),
		{
			given: { a: indices(90, 11) },
			build: ({ a }) => graph.div(graph.sub(a, 45), 7),
			expected: ({ a }) => a.data.map((x) => Math.trunc((x - 45) / 7)),
		},
	],
	maximum: binary(graph.maximum, Math.max),
	minimum: binary(graph.minimum, Math.min),
	clamp: [
		unary(
			(x) => graph.clamp(x, -0.6, 0.7),
			(x) => Math.min(Math.max(x, -0.6), 0.7),
		),
	],
	less: comparison(graph.less, (x, y) => x < y),
	greaterEqual: comparison(graph.greaterEqual, (x, y) => x >= y),
	equal: comparison(graph.equal, (x, y) => x === y),
	both: [logical(graph.both, (x, y) => x & y)],
	either: [logical(graph.either, (x, y) => x | y)],
	neg: [unary(graph.neg, (x) => -x)],
	exp: [unary(graph.exp, Math.exp)],
	log: [unary(graph.log, Math.log, positive(2, 1, 5))],
	sqrt: [unary(graph.sqrt, Math.sqrt, positive(2, 1, 5))],
	sin: [unary(graph.sin, Math.sin)],
	cos: [unary(graph.cos, Math.cos)],
	tanh: [unary(graph.tanh, Math.tanh), unary(graph.tanh, Math.tanh, around(-30, 0, 30))],
	sigmoid: [unary(graph.sigmoid, sigmoid), unary(graph.sigmoid, sigmoid, around(-30, 0, 30))],
	abs: [unary(graph.abs, Math.abs)],
	sign: [unary(graph.sign, Math.sign)],
	floor: [unary(graph.floor, Math.floor)],
	relu: [unary(graph.relu, (x) => Math.max(x, 0))],
	elu: [
		unary(
			(x) => graph.elu(x, 0.7),
			(x) => (x > 0 ? x : 0.7 * Math.expm1(x)),
		),
	],
	// At zero the parts |x| and max(x, 0) have no slope; the whole has.
	softplus: [unary(graph.softplus, (x) => Math.log1p(Math.exp(x)), around(-40, -3, 0, 0.1, 30))],
	logSigmoid: [
		unary(
			graph.logSigmoid,
			(x) => Math.min(x, 0) - Math.log1p(Math.exp(-Math.abs(x))),
			around(-700, -3, 0, 0.1, 30),
		),
	],
	silu: [unary(graph.silu, (x) => x * sigmoid(x))],
	gelu: [unary(graph.gelu, gelu), unary(graph.gelu, gelu, around(-9, -1, 0, 1, 9))],
	square: [unary(graph.square, (x) => x * x)],
	cast: [
		unary(
			(x) => graph.cast(graph.mul(graph.cast(x, "float64"), 3), x.dtype),
			(x) => 3 * x,
		),
		{
			given: { x: around(-1.5, -0.2, 0, 0.7, 2.9) },
			build: ({ x }) => graph.cast(x, "int32"),
			expected: () => [-1, 0, 0, 0, 2],
		},
		{
			given: { x: bools(3) },
			build: ({ x }, dtype) => graph.cast(x, dtype),
			expected: ({ x }) => x.data,
		},
	],
	where: [
		{
			given: { c: bools(3, 1, 5), a: [7, 1], b: [2, 3, 1, 1] },
			build: ({ c, a, b }) => graph.where(c, a, b),
			expected: ({ c, a, b }) =>
				tabulate([2, 3, 7, 5], (...place) => (c.at(...place) ? a.at(...place) : b.at(...place))),
		},
		{
			given: { c: bools(5), a: [5] },
			build: ({ c, a }) => graph.where(c, graph.square(a), -1),
			expected: ({ c, a }) => a.data.map((x, i) => (c.data[i] ? x * x : -1)),
		},
		{
			given: { c: bools(2, 1), a: indices(9, 3), b: indices(9, 1) },
			build: ({ c, a, b }) => graph.where(c, a, b),
			expected: ({ c, a, b }) =>
				tabulate([2, 3], (...place) => (c.at(...place) ? a.at(...place) : b.at(...place))),
		},
	],
	allReduceSum: [
		unary(
			(x) => graph.mul(graph.allReduceSum(graph.square(x)), 2),
			(x) => 2 * x * x,
		),
	],
	unbroadcast: [
		{
			given: { x: [2, 3, 5] },
			build: ({ x }) => graph.unbroadcast(x, [3, 1]),
			expected: ({ x }) =>
				tabulate([3, 1], (i) => {
					let sum = 0;
					for (let b = 0; b < 2; b++) for (let j = 0; j < 5; j++) sum += x.at(b, i, j);
					return sum;
				}),
		},
	],
});
