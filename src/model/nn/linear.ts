import { add, matmul, type Tensor } from "../../engine/tensor/index.js";
import { filledWith, normal, type WeightSpecs, type Weights } from "./weights.js";

export interface LinearOptions {
	/** Of the weights at the start; 1 / √inside if left out. */
	readonly deviation?: number;
	readonly bias?: boolean;
}

export const linearWeights = (
	inside: number,
	outside: number,
	{ deviation = 1 / Math.sqrt(inside), bias = true }: LinearOptions = {},
): WeightSpecs => ({
	weight: normal([outside, inside], deviation),
	...(bias && { bias: filledWith(0, [outside]) }),
});

/** x W^T, over the last axis. */
export const project = (p: Weights, x: Tensor): Tensor =>
	matmul(x, p("weight"), { transposeB: true });

/** x W^T + b. */
export const linear = (p: Weights, x: Tensor): Tensor => add(project(p, x), p("bias"));
