import {
	add,
	concat,
	constant,
	cos,
	exp,
	type FloatType,
	log,
	maximum,
	mul,
	neg,
	reshape,
	sin,
	stack,
	type Tensor,
} from "../../engine/tensor/index.js";

const waves = 8;
/** The longest gap that is distinguished: 100 years. */
const longestDays = 36525;

export const gapFeatureCount = 2 + 2 * waves;

/**
 * Features of the days since the event before: the logarithm, sines and cosines of it, and whether
 * there are any. Negative gaps count as 0.
 */
export function gapFeatures(days: Tensor): Tensor {
	const since = maximum(days, 0);
	const level = mul(log(add(since, 1)), 1 / Math.log1p(longestDays)); // 0 … 1
	const turns = Array.from({ length: waves }, (_, i) => Math.PI * (i + 1));
	const angles = mul(
		reshape(level, [...days.shape, 1]),
		constant(turns, [waves], days.dtype as FloatType),
	); // [batch, n, waves]
	const pairs = reshape(stack([sin(angles), cos(angles)], 3), [...days.shape, 2 * waves]);
	return concat([stack([level, exp(neg(since))], 2), pairs], 2); // [batch, n, gapFeatures]
}
