import {
	add,
	concat,
	gelu,
	matmul,
	pad,
	reshape,
	slice,
	sub,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { nested, normal, type WeightSpecs, type Weights, within } from "../../nn/weights.js";

export const forecastWeights = ({
	dim,
	ff,
	ahead,
}: {
	readonly dim: number;
	readonly ff: number;
	readonly ahead: number;
}): WeightSpecs =>
	nested("forecast", {
		...nested("ends", linearWeights(2 * dim, ff, { bias: false })),
		questions: normal([ahead, ff], 1),
		...nested("out", linearWeights(ff, dim)),
	});

/**
 * What is to come from both ends of a window: its first place ([SOS] where there is room), where the
 * last layer has read all of it backwards, and its last, where the layer before has read it forwards.
 * Question i has a vector of its own: h_i = W_o gelu(W [first; last] + e_i).
 */
export function forecast(weights: Weights, encoded: Tensor, mask: Tensor): Tensor {
	const p = within(weights, "forecast");
	const [rows, places] = mask.shape as [number, number];
	const isFirst = sub(mask, slice(pad(mask, 1, 1, 0), 1, 0, places)); // [rows, places]
	const first = matmul(reshape(isFirst, [rows, 1, places]), encoded); // [rows, 1, dim]
	const ends = project(within(p, "ends"), concat([first, slice(encoded, 1, -1)], 2));
	return linear(within(p, "out"), gelu(add(ends, p("questions")))); // [rows, ahead, dim]
}
