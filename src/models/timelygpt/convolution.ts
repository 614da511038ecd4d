import { conv1d, mul, sigmoid, silu, slice, type Tensor, transpose } from "../../graph/index.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights } from "../../nn/linear.js";
import { nested, normal, type WeightSpecs, type Weights, within } from "../../nn/weights.js";

export const convolutionWeights = (width: number, kernel: number): WeightSpecs => ({
	...nested("gated", linearWeights(width, 2 * width)),
	depthwise: normal([width, 1, kernel], 1 / Math.sqrt(kernel)),
	...nested("norm", normWeights(width)),
	...nested("out", linearWeights(width, width)),
});

/**
 * The convolution of a Conformer: pointwise with a gate, depthwise over the places, norm, SiLU,
 * pointwise. All zeros stand before the first place: none sees a later one.
 */
export function convolution(p: Weights, x: Tensor): Tensor {
	const [, , width] = x.shape as [number, number, number];
	const kernel = p("depthwise").shape[2] as number;
	const both = linear(within(p, "gated"), x); // [rows, places, 2 width]
	const gated = mul(slice(both, 2, 0, width), sigmoid(slice(both, 2, width)));
	const local = conv1d(transpose(gated), p("depthwise"), {
		padding: [kernel - 1, 0],
		groups: width,
	}); // [rows, width, places]
	return linear(within(p, "out"), silu(norm(within(p, "norm"), transpose(local))));
}
