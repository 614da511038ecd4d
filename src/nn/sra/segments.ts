import {
	add,
	constant,
	cumulativeSum,
	exp,
	expand,
	type FloatType,
	matmul,
	mul,
	reshape,
	type Tensor,
} from "../../graph/index.js";

/** Added to an exponent, this makes a weight of exactly 0 with a gradient of exactly 0. */
const never = -1e30;

/** Up to this length the sums are one small matrix product. */
const longestProduct = 64;

const tables = new Map<string, Tensor>();

/** A constant matrix. Layers and graphs share it: the largest has 64³ values. */
function table(
	name: string,
	[rows, columns]: readonly [number, number],
	value: (i: number, j: number) => number,
	dtype: FloatType,
): Tensor {
	const key = `${name} ${columns} ${dtype}`;
	const known = tables.get(key);
	if (known) return known;
	const data = new Float64Array(rows * columns);
	for (let i = 0; i < rows; i++)
		for (let j = 0; j < columns; j++) data[i * columns + j] = value(i, j);
	const made = constant(data, [rows, columns], dtype);
	tables.set(key, made);
	return made;
}

/** Adds an axis of size 1 at the end. */
export const column = (x: Tensor): Tensor => reshape(x, [...x.shape, 1]);

const floatType = (x: Tensor) => x.dtype as FloatType;

/**
 * Decay between slots: weight (i, j) is exp Σ logDecay_t over j < t ≤ i + shift, and 0 where
 * j > i + shift. The sums are taken directly, never as differences of running sums: after one
 * long gap a difference would lose the digits of every short one. [..., n] → [..., n, n]
 */
export function decayWeights(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const dtype = floatType(logDecay);
	const inside = (i: number, j: number, t: number) => Number(j < t && t <= i + shift);
	const mask = table(`mask${shift}`, [n, n], (i, j) => (j <= i + shift ? 0 : never), dtype);
	if (n <= longestProduct) {
		const members = table(
			`between${shift}`,
			[n * n, n],
			(ij, t) => inside(Math.floor(ij / n), ij % n, t),
			dtype,
		);
		const sums = matmul(reshape(logDecay, [-1, n]), members, { transposeB: true });
		return exp(add(reshape(sums, [...logDecay.shape, n]), mask));
	}
	// Row t of column j holds logDecay_t if j < t; running sums down the rows end at i.
	const later = table("later", [n, n], (t, j) => Number(j < t), dtype);
	const below = mul(expand(column(logDecay), [...logDecay.shape, n]), later);
	const sums = cumulativeSum(below, -2, { exclusive: shift === -1 });
	return exp(add(sums, mask));
}

/** Decay from the start of the sequence to each slot, with its own step (shift 0) or without it (−1). [..., n] */
export function decayFromStart(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table(
		`upTo${shift}`,
		[n, n],
		(i, t) => Number(t <= i + shift),
		floatType(logDecay),
	);
	return exp(sumsOver(logDecay, members));
}

/** Decay from each slot to the end of the sequence. [..., n] */
export function decayToEnd(logDecay: Tensor): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table("after", [n, n], (j, t) => Number(t > j), floatType(logDecay));
	return exp(sumsOver(logDecay, members));
}

const sumsOver = (logDecay: Tensor, members: Tensor): Tensor =>
	matmul(logDecay, members, { transposeB: true });
