import {
	concat,
	matmul,
	mul,
	reshape,
	softmax,
	sub,
	sum,
	type Tensor,
	transpose,
} from "../../../engine/tensor/index.js";
import { paddedAverages } from "../../nn/decomposition.js";
import { linear, linearWeights } from "../../nn/linear.js";
import type { WeightSpecs, Weights } from "../../nn/weights.js";

export const mixtureWeights = (dim: number, experts: number): WeightSpecs =>
	linearWeights(dim, experts);

/** Moving averages of several widths, one below the other. */
export const mixedAverages = (mask: Tensor, widths: readonly number[]): Tensor =>
	concat(
		widths.map((width) => paddedAverages(mask, width)),
		1,
	); // [rows, experts · places, places]

/**
 * The trend of x [rows, places, dim] is a mixture of its moving averages, weighed at each place by what x
 * is there: softmax(L(x)) · averages(x). What is left is seasonal.
 */
export function decomposeMixed(
	p: Weights,
	x: Tensor,
	averages: Tensor,
): { readonly seasonal: Tensor; readonly trend: Tensor } {
	const [rows, places, dim] = x.shape as [number, number, number];
	const experts = (averages.shape[1] as number) / places;
	const weights = transpose(softmax(linear(p, x)), [0, 2, 1]); // [rows, experts, places]
	const all = reshape(matmul(averages, x), [rows, experts, places, dim]);
	const trend = sum(mul(all, reshape(weights, [rows, experts, places, 1])), 1);
	return { seasonal: sub(x, trend), trend };
}
