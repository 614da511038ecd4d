import { add, mul, sigmoid, split, sub, type Tensor, tanh } from "../../engine/tensor/index.js";
import { linear, linearWeights, project } from "./linear.js";
import { nested, type WeightSpecs, type Weights, within } from "./weights.js";

/**
 * A gated recurrent unit that reads `inside` numbers and holds `width` (Cho et al. 2014):
 *
 *     z, r = σ(W x + U h + b)      h̃ = tanh(W x + U (r ⊙ h) + b)      h' = (1 − z) ⊙ h + z ⊙ h̃
 */
export const gruWeights = (inside: number, width: number): WeightSpecs => ({
	...nested("input", linearWeights(inside, 3 * width)),
	...nested("gates", linearWeights(width, 2 * width, { bias: false })),
	...nested("candidate", linearWeights(width, width, { bias: false })),
});

/** What the input adds before z, r and h̃: of all places at once, outside the recurrence. */
export const gruInput = (p: Weights, input: Tensor): Tensor => linear(within(p, "input"), input); // [..., 3 width]

/** The next state, [rows, width], from what `gruInput` made of a place, [rows, 3 width]. */
export function gruStep(p: Weights, state: Tensor, fromInput: Tensor): Tensor {
	const width = state.shape.at(-1) as number;
	const [toGates, toCandidate] = parts(fromInput, [2 * width, width]);
	const gates = sigmoid(add(toGates, project(within(p, "gates"), state)));
	const [z, r] = parts(gates, [width, width]);
	const candidate = tanh(add(toCandidate, project(within(p, "candidate"), mul(r, state))));
	return add(state, mul(z, sub(candidate, state)));
}

const parts = (x: Tensor, sizes: readonly [number, number]) =>
	split(x, -1, sizes) as readonly [Tensor, Tensor];
