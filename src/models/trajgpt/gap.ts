import {
	add,
	cos,
	exp,
	log,
	maximum,
	mul,
	neg,
	sin,
	stack,
	type Tensor,
} from "../../graph/index.js";

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
	const parts = [level, exp(neg(since))];
	for (let k = 1; k <= waves; k++) {
		const angle = mul(level, Math.PI * k);
		parts.push(sin(angle), cos(angle));
	}
	return stack(parts, 2); // [batch, n, gapFeatures]
}
