import { add, input, matmul, mul, reshape, type Tensor } from "../../engine/tensor/index.js";
import type { Head, Parameters } from "../model.js";
import { listed, weightsOf } from "../nn/weights.js";

/** Where a classifier starts: log-odds = weight · pooled + bias + risk · log-odds of the model's own risk. */
export interface LinearHead {
	readonly weight: ArrayLike<number>; // [dim]
	readonly bias: number;
	/** Left out for models and tasks without hazards. */
	readonly risk?: number | undefined;
}

const riskWeight = "label.risk";
export const riskInput = "label.risks";

/** The log-odds of yes for each pooled history: [rows, dim] → [rows]. */
export const labelHead: Head<LinearHead> = {
	weights: ({ weight, bias, risk }) => ({
		"label.weight": listed([1, weight.length], weight),
		"label.bias": listed([1], [bias]),
		...(risk !== undefined && { [riskWeight]: listed([1], [risk]) }),
	}),
	outputs: (p, pooled) =>
		add(
			reshape(matmul(pooled, p("label.weight"), { transposeB: true }), [pooled.shape[0] as number]),
			p("label.bias"),
		),
};

/** The log-odds of yes: those of the head and, if it reads them, of the risks that are fed. */
export function labelLogOdds(parameters: Parameters, pooled: Tensor): Tensor {
	const p = weightsOf(parameters);
	const own = labelHead.outputs(p, pooled);
	if (!Object.hasOwn(parameters, riskWeight)) return own;
	return add(own, mul(input(riskInput, own.shape, own.dtype), p(riskWeight)));
}
