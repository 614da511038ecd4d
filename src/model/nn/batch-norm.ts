import {
	add,
	div,
	matmul,
	maximum,
	minimum,
	mul,
	normalized,
	reshape,
	square,
	sub,
	sum,
	type Tensor,
} from "../../engine/tensor/index.js";
import { filledWith, type WeightSpecs, type Weights } from "./weights.js";

/** How far a step moves the running averages towards the batch's own. */
const momentum = 0.1;

export const batchNormWeights = (width: number): WeightSpecs => ({
	scale: filledWith(1, [width]),
	shift: filledWith(0, [width]),
	mean: { ...filledWith(0, [width]), moving: true },
	variance: { ...filledWith(1, [width]), moving: true },
});

export interface BatchNormOptions {
	/** 1 for what counts in the statistics, 0 for what does not, as padding: x without its last axis. */
	readonly counts: Tensor;
	/** There while it is learned from; the new running averages are noted in it. */
	readonly moving: Record<string, Tensor> | undefined;
}

/**
 * Batch norm over all axes but the last: with the batch's own mean and variance while it is learned
 * from, with their running averages otherwise. `name` is that of its weights among all of `p`.
 */
export function batchNorm(
	p: Weights,
	name: string,
	x: Tensor,
	{ counts, moving }: BatchNormOptions,
): Tensor {
	const own = (weight: string) => p(`${name}.${weight}`);
	const affine = { scale: own("scale"), shift: own("shift") };
	if (!moving) return normalized(x, own("mean"), own("variance"), affine);
	const width = x.shape.at(-1) as number;
	const rows = reshape(x, [-1, width]);
	const total = sum(counts);
	const shares = reshape(div(counts, maximum(total, 1)), [1, -1]); // [1, rows]
	const mean = matmul(shares, rows); // [1, width]
	const variance = matmul(shares, square(sub(rows, mean)));
	// The running variance is the unbiased one; where nothing counts nothing moves.
	const unbiased = mul(variance, div(total, maximum(sub(total, 1), 1)));
	const share = mul(minimum(total, 1), momentum);
	const moved = (weight: string, now: Tensor) =>
		add(own(weight), mul(sub(reshape(now, [width]), own(weight)), share));
	moving[`${name}.mean`] = moved("mean", mean);
	moving[`${name}.variance`] = moved("variance", unbiased);
	return reshape(normalized(rows, mean, variance, affine), x.shape);
}
