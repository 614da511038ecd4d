import { add, matmul, reshape } from "../../graph/index.js";
import { listed } from "../../nn/weights.js";
import type { Head } from "../model.js";

/** Where a classifier starts: log-odds = weight · pooled + bias. */
export interface LinearHead {
	readonly weight: ArrayLike<number>; // [dim]
	readonly bias: number;
}

/** The log-odds of yes for each pooled history: [rows, dim] → [rows]. */
export const labelHead: Head<LinearHead> = {
	weights: ({ weight, bias }) => ({
		"label.weight": listed([1, weight.length], weight),
		"label.bias": listed([1], [bias]),
	}),
	outputs: (p, pooled) =>
		add(
			reshape(matmul(pooled, p("label.weight"), { transposeB: true }), [pooled.shape[0] as number]),
			p("label.bias"),
		),
};
