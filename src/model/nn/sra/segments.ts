import {
	add,
	constant,
	exp,
	type FloatType,
	matmul,
	reshape,
	segmentSums,
	type Tensor,
} from "../../../engine/tensor/index.js";

/** Added to an exponent, this makes a weight of exactly 0 with a gradient of exactly 0. */
const never = -1e30;

const tables = new Map<string, Tensor>();

/** A constant matrix, which layers and graphs share. */
function table(
	name: string,
	n: number,
	value: (i: number, j: number) => number,
	dtype: FloatType,
): Tensor {
	const key = `${name} ${n} ${dtype}`;
	const known = tables.get(key);
	if (known) return known;
	const data = Float64Array.from({ length: n * n }, (_, at) => value(Math.floor(at / n), at % n));
	const made = constant(data, [n, n], dtype);
	tables.set(key, made);
	return made;
}

/** Adds an axis of size 1 at the end. */
export const column = (x: Tensor): Tensor => reshape(x, [...x.shape, 1]);

const floatType = (x: Tensor) => x.dtype as FloatType;

/**
 * Decay between slots: weight (i, j) is exp Σ logDecay_t over j < t ≤ i + shift, and 0 where j > i + shift.
 * [..., n] → [..., n, n]
 */
export function decayWeights(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const mask = table(
		`mask${shift}`,
		n,
		(i, j) => (j <= i + shift ? 0 : never),
		floatType(logDecay),
	);
	return exp(add(segmentSums(logDecay, shift), mask));
}

/** Decay from the start of the sequence to each slot, with its own step (shift 0) or without it (−1). [..., n] */
export function decayFromStart(logDecay: Tensor, shift: 0 | -1): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table(`upTo${shift}`, n, (i, t) => Number(t <= i + shift), floatType(logDecay));
	return exp(sumsOver(logDecay, members));
}

/** Decay from each slot to the end of the sequence. [..., n] */
export function decayToEnd(logDecay: Tensor): Tensor {
	const n = logDecay.shape.at(-1) as number;
	const members = table("after", n, (j, t) => Number(t > j), floatType(logDecay));
	return exp(sumsOver(logDecay, members));
}

const sumsOver = (logDecay: Tensor, members: Tensor): Tensor =>
	matmul(logDecay, members, { transposeB: true });
