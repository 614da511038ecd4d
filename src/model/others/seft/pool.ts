import {
	add,
	matmul,
	reshape,
	softmax,
	type Tensor,
	transpose,
} from "../../../engine/tensor/index.js";
import { causalMask, joinHeads } from "../../nn/attention.js";

/**
 * After each place, every head's mean of the values up to and with it, weighted by the softmax of
 * its scores over just those: a function of the set of places, whatever their order.
 */
export function poolUpTo(scores: Tensor, values: Tensor): Tensor {
	const [rows, places, heads] = scores.shape as [number, number, number];
	const each = reshape(transpose(scores), [rows, heads, 1, places]);
	const shares = softmax(add(each, causalMask(places, scores.dtype))); // [rows, heads, places, places]
	const pooled = matmul(reshape(shares, [rows, heads * places, places]), values);
	return joinHeads(reshape(pooled, [rows, heads, places, -1])); // [rows, places, heads · width]
}
