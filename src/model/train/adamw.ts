import type { Tensor } from "../../engine/tensor/index.js";

export interface AdamWOptions {
	readonly beta1: number;
	readonly beta2: number;
	/**
	 * The same for weights that are learned from rare events. A short memory of squares forgets between two of them:
	 * each step without one would then count as much as a step with one, and the weights settle in the wrong place.
	 */
	readonly rareBeta2: number;
	readonly epsilon: number;
	readonly weightDecay: number;
}

export const adamWDefaults: AdamWOptions = {
	beta1: 0.9,
	beta2: 0.95,
	rareBeta2: 0.999,
	epsilon: 1e-8,
	weightDecay: 0.1,
};

/** What changes from step to step, as scalars of the graph. */
export interface AdamWScalars {
	readonly rate: Tensor;
	readonly epsilon: Tensor;
	readonly shrink: Tensor;
}

/**
 * The scalars of step `step` (from 1). The moments are kept without their factors (1 − β), which
 * are folded in here with the corrections for their start at zero: two passes less over every weight.
 */
export function adamWScalars(
	step: number,
	learningRate: number,
	{ beta1, beta2, epsilon, weightDecay }: Omit<AdamWOptions, "rareBeta2">,
): { rate: number; epsilon: number; shrink: number } {
	const first = (1 - beta1) / (1 - beta1 ** step);
	const second = Math.sqrt((1 - beta2) / (1 - beta2 ** step));
	return {
		rate: (learningRate * first) / second,
		epsilon: epsilon / second,
		shrink: 1 - learningRate * weightDecay,
	};
}

export interface AdamWState {
	readonly parameter: Tensor;
	/** Σ β1ⁱ g, newest first. */
	readonly first: Tensor;
	/** Σ β2ⁱ g². */
	readonly second: Tensor;
}

/** One AdamW update with decoupled weight decay (Loshchilov & Hutter 2019). */
export function adamW(
	{ parameter, first, second }: AdamWState,
	gradient: Tensor,
	scalars: AdamWScalars,
	{ beta1, beta2 }: Pick<AdamWOptions, "beta1" | "beta2">,
	decays: boolean,
): AdamWState {
	const m = first.mul(beta1).add(gradient);
	const v = second.mul(beta2).add(gradient.mul(gradient));
	const kept = decays ? parameter.mul(scalars.shrink) : parameter;
	const update = m.div(v.sqrt().add(scalars.epsilon)).mul(scalars.rate);
	return { parameter: kept.sub(update), first: m, second: v };
}
