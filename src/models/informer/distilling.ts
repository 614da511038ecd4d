import {
	add,
	conv1d,
	elu,
	maxPool1d,
	mul,
	reshape,
	sub,
	type Tensor,
	transpose,
} from "../../graph/index.js";
import { filledWith, normal, type WeightSpecs, type Weights } from "../../nn/weights.js";

export const distilWeights = (width: number): WeightSpecs => ({
	weight: normal([width, width, 3], 1 / Math.sqrt(3 * width)),
	bias: filledWith(0, [width]),
});

/** Places, and which of them are real. */
export interface Places {
	readonly x: Tensor; // [rows, places, width]
	readonly real: Tensor; // [rows, places]
}

const everySecond = { kernel: 3, stride: 2, padding: 1 };

/** MaxPool(ELU(Conv1d(x))): half as many places, each from the three (and their neighbours) around every second. */
export function distil(p: Weights, { x, real }: Places): Places {
	const [rows, places] = real.shape as [number, number];
	const isReal = reshape(real, [rows, 1, places]);
	const held = mul(transpose(x), isReal); // [rows, width, places]
	const y = elu(conv1d(held, p("weight"), { bias: p("bias"), padding: 1 }));
	// ELU stays above −1: what is not real is never the largest.
	const known = add(mul(y, isReal), sub(isReal, 1));
	return {
		x: transpose(maxPool1d(known, everySecond)),
		real: reshape(maxPool1d(isReal, everySecond), [rows, -1]),
	};
}
