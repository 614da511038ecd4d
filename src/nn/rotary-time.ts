import {
	cast,
	concat,
	constant,
	cos,
	type FloatType,
	floor,
	mul,
	reshape,
	rotary,
	sin,
	slice,
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

export interface Angles {
	readonly cosine: Tensor; // [batch, length, half]
	readonly sine: Tensor;
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
): Angles {
	const frequency = constant(
		periods(half, range).map((p) => 1 / p),
		[half],
		"float64",
	);
	const turns = mul(reshape(times, [...times.shape, 1]), frequency);
	const angle = cast(mul(sub(turns, floor(turns)), 2 * Math.PI), dtype); // [batch, length, half]
	return { cosine: cos(angle), sine: sin(angle) };
}

/** Turns x [batch, heads, length, size] by the angles of its slots; an odd last element stays as it is. */
export function turn(x: Tensor, { cosine, sine }: Angles): Tensor {
	const even = 2 * (cosine.shape.at(-1) as number);
	if (even === x.shape.at(-1)) return rotary(x, cosine, sine);
	return concat([rotary(slice(x, -1, 0, even), cosine, sine), slice(x, -1, even)], -1);
}
