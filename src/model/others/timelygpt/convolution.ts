import {
	add,
	conv1d,
	mul,
	reshape,
	sigmoid,
	silu,
	slice,
	sub,
	type Tensor,
	transpose,
} from "../../../engine/tensor/index.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights } from "../../nn/linear.js";
import { nested, normal, type WeightSpecs, type Weights, within } from "../../nn/weights.js";

export const convolutionWeights = (width: number, kernel: number): WeightSpecs => ({
	...nested("gated", linearWeights(width, 2 * width)),
	depthwise: normal([width, 1, kernel], 1 / Math.sqrt(kernel)),
	...nested("norm", normWeights(width)),
	...nested("out", linearWeights(width, width)),
});

/** What goes into the depthwise part and what comes out of it, [rows, places, width]. */
export interface Convolved {
	readonly gated: Tensor;
	readonly local: Tensor;
}

const gatedOf = (p: Weights, x: Tensor): Tensor => {
	const width = x.shape[2] as number;
	const both = linear(within(p, "gated"), x); // [rows, places, 2 width]
	return mul(slice(both, 2, 0, width), sigmoid(slice(both, 2, width)));
};

const out = (p: Weights, local: Tensor): Tensor =>
	linear(within(p, "out"), silu(norm(within(p, "norm"), local)));

/**
 * The convolution of a Conformer: pointwise with a gate, depthwise over the places, norm, SiLU,
 * pointwise. All zeros stand before the first place: none sees a later one.
 */
export function convolution(
	p: Weights,
	x: Tensor,
): { readonly output: Tensor; readonly convolved: Convolved } {
	const [width, , kernel] = p("depthwise").shape as [number, number, number];
	const gated = gatedOf(p, x);
	const local = transpose(
		conv1d(transpose(gated), p("depthwise"), { padding: [kernel - 1, 0], groups: width }),
	);
	return { output: out(p, local), convolved: { gated, local } };
}

/** The same for one that stands in the stead of a place, after those that came before it. */
export function convolutionInstead(p: Weights, x: Tensor, { gated, local }: Convolved): Tensor {
	const [width, , kernel] = p("depthwise").shape as [number, number, number];
	const own = reshape(slice(p("depthwise"), 2, kernel - 1), [width]);
	return out(p, add(local, mul(sub(gatedOf(p, x), gated), own)));
}
