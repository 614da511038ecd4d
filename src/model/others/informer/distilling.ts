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
} from "../../../engine/tensor/index.js";
import { filledWith, normal, type WeightSpecs, type Weights } from "../../nn/weights.js";

export const distilWeights = (width: number): WeightSpecs => ({
	weight: normal([width, width, 3], 1 / Math.sqrt(3 * width)),
	bias: filledWith(0, [width]),
});

/** A sequence and its mask. */
export interface Places {
	readonly x: Tensor; // [rows, places, width]
	readonly mask: Tensor; // [rows, places]
}

const everySecond = { kernel: 3, stride: 2, padding: 1 };

/** MaxPool(ELU(Conv1d(x))): half as many places, each from the three (and their neighbours) around every second. */
export function distil(p: Weights, { x, mask }: Places): Places {
	const [rows, places] = mask.shape as [number, number];
	const channelMask = reshape(mask, [rows, 1, places]);
	const events = mul(transpose(x), channelMask); // [rows, width, places]
	const y = elu(conv1d(events, p("weight"), { bias: p("bias"), padding: 1 }));
	// ELU stays above −1: padding is never the largest.
	const known = add(mul(y, channelMask), sub(channelMask, 1));
	return {
		x: transpose(maxPool1d(known, everySecond)),
		mask: reshape(maxPool1d(channelMask, everySecond), [rows, -1]),
	};
}
