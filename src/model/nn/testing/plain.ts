/** Arithmetic of references: plain, slow, one number at a time. */
import { random } from "../../../base/random.js";
import { type FloatType, parameter } from "../../../engine/tensor/index.js";
import { drawWeights, type WeightSpecs, weightsOf } from "../weights.js";

export type Vector = readonly number[];
export type Matrix = readonly Vector[];

export const range = <T>(count: number, value: (i: number) => T): T[] =>
	Array.from({ length: count }, (_, i) => value(i));

export const at = (x: Matrix, i: number, j: number): number => x[i]?.[j];

/** Numbers in rows of one width. */
export const matrix = (values: ArrayLike<number>, width: number): Matrix =>
	range(values.length / width, (i) => range(width, (j) => values[i * width + j]));

const sum = (x: Vector): number => x.reduce((a, b) => a + b, 0);
export const dot = (a: Vector, b: Vector): number => a.reduce((all, x, i) => all + x * b[i], 0);
export const plus = (a: Vector, b: Vector): number[] => a.map((x, i) => x + b[i]);

/** W x, of W in rows one after another. References call it millions of times. */
export function applied(w: Vector, x: Vector): number[] {
	const y: number[] = [];
	for (let from = 0; from < w.length; from += x.length) {
		let sum = 0;
		for (let i = 0; i < x.length; i++) sum += w[from + i] * x[i];
		y.push(sum);
	}
	return y;
}

/** x W^T. */
export const product = (x: Matrix, w: Matrix): Matrix =>
	x.map((row) => w.map((column) => dot(row, column)));

export function plainNorm(row: Vector): Vector {
	const mean = sum(row) / row.length;
	const variance = sum(row.map((x) => (x - mean) ** 2)) / row.length;
	return row.map((x) => (x - mean) / Math.sqrt(variance + 1e-5));
}

export const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
export const plainSilu = (x: number): number => x * sigmoid(x);
/** By the usual approximation with a hyperbolic tangent. */
export const plainGelu = (x: number): number =>
	(x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

export function logSoftmax(logits: Vector): number[] {
	const total = Math.log(sum(logits.map(Math.exp)));
	return logits.map((x) => x - total);
}

/** The mean of values, weighted by the softmax of scores. */
export function attended(scores: Vector, values: Matrix): number[] {
	const weights = scores.map(Math.exp);
	const total = sum(weights);
	return range(values[0]?.length ?? 0, (i) =>
		sum(values.map((value, m) => (weights[m] / total) * value[i])),
	);
}

/** Weights of which none is as at the start, for graphs and for plain references. */
export function plainWeights(
	specs: WeightSpecs,
	{ noise = 0.3, dtype = "float32" as FloatType } = {},
) {
	const draw = random(8);
	const weights = drawWeights(specs, random(2));
	for (const [name, { data }] of weights)
		for (let i = 0; i < data.length; i++)
			data[i] += name.endsWith("variance") ? draw.uniform() : noise * draw.normal();
	const symbols = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape, dtype)]),
	);
	const values: Record<string, number[]> = Object.fromEntries(
		[...weights].map(([name, { data }]) => [name, [...data]]),
	);
	/** The rows of a table, or of a matrix [out, in]. */
	const rows = (name: string): Matrix =>
		matrix(values[name], weights.get(name)?.shape.at(-1) as number);
	const project = (name: string, x: Vector): number[] => applied(values[`${name}.weight`], x);
	const linear = (name: string, x: Vector): number[] =>
		plus(project(name, x), values[`${name}.bias`]);
	const norm = (name: string, x: Vector): Vector =>
		plainNorm(x).map((y, i) => y * values[`${name}.scale`][i] + values[`${name}.shift`][i]);
	/** Softmax attention with several heads, place by place. */
	const attention = (
		name: string,
		x: Matrix,
		heads: number,
		sees: (n: number, m: number) => boolean,
	): Matrix => {
		const [q, k, v] = ["query", "key", "value"].map((part) =>
			x.map((own) => linear(`${name}.${part}`, own)),
		);
		return x.map((own, n) => {
			const size = own.length / heads;
			const seen = [...x.keys()].filter((m) => sees(n, m));
			const ofHeads = range(heads, (head) => {
				const part = (y: Vector) => y.slice(head * size, (head + 1) * size);
				const scores = seen.map((m) => dot(part(q[n]), part(k[m])) / Math.sqrt(size));
				return attended(
					scores,
					seen.map((m) => part(v[m])),
				);
			});
			return linear(`${name}.out`, ofHeads.flat());
		});
	};
	return {
		weights,
		symbols,
		p: weightsOf(symbols),
		values,
		rows,
		project,
		linear,
		norm,
		attention,
	};
}
