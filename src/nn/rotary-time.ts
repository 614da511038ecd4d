import {
	cast,
	constant,
	cos,
	type FloatType,
	floor,
	mul,
	reshape,
	sin,
	sub,
	type Tensor,
} from "../graph/index.js";

export interface Periods {
	/** In the unit of the times. */
	readonly shortestPeriod: number;
	readonly longestPeriod: number;
}

/** Geometric from the shortest to the longest. */
export function periods(count: number, { shortestPeriod, longestPeriod }: Periods): number[] {
	const ratio = Math.log(longestPeriod / shortestPeriod);
	return Array.from(
		{ length: count },
		(_, i) => shortestPeriod * Math.exp((ratio * i) / Math.max(1, count - 1)),
	);
}

/**
 * Cosine and sine of 2π t / period for every time and period. Whole turns are taken off in
 * float64: a century counted in 2-day periods has no digits left for the angle in float32.
 */
export function timeAngles(
	times: Tensor, // [batch, length], float64
	half: number,
	range: Periods,
	dtype: FloatType,
): { readonly cosine: Tensor; readonly sine: Tensor } {
	const frequency = constant(
		periods(half, range).map((p) => 1 / p),
		[half],
		"float64",
	);
	const turns = mul(reshape(times, [...times.shape, 1]), frequency);
	const angle = cast(mul(sub(turns, floor(turns)), 2 * Math.PI), dtype); // [batch, length, half]
	return { cosine: cos(angle), sine: sin(angle) };
}
