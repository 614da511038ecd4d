import { gelu, type Tensor } from "../../engine/tensor/index.js";
import { type LinearOptions, linear, linearWeights } from "./linear.js";
import { nested, type WeightSpecs, type Weights, within } from "./weights.js";

export const feedForwardWeights = (
	width: number,
	inside: number,
	/** Of the way back, where it starts smaller. */
	down: LinearOptions = {},
): WeightSpecs => ({
	...nested("up", linearWeights(width, inside)),
	...nested("down", linearWeights(inside, width, down)),
});

/** Two linear layers with an activation between them, GELU if none is named. */
export const feedForward = (
	p: Weights,
	x: Tensor,
	activation: (x: Tensor) => Tensor = gelu,
): Tensor => linear(within(p, "down"), activation(linear(within(p, "up"), x)));
