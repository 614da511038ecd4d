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
} from "../../engine/tensor/index.js";

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

/** The angles of times, [times, half], for engines that have no float64: see `timeAngles`. */
export function anglesOf(times: Float64Array, half: number, range: Periods): Float32Array {
	const frequency = periods(half, range).map((p) => 1 / p);
	return Float32Array.from({ length: times.length * half }, (_, i) => {
		const turns = (times[Math.floor(i / half)] as number) * (frequency[i % half] as number);
		return (turns - Math.floor(turns)) * 2 * Math.PI;
	});
}

/**
 * Cosine and sine of 2π t / period for every time and period. Whole turns are taken off in
 * float64: a century counted in 2-day periods has no digits left for the angle in float32.
 * Times may also come as angles, with these turns taken off already.
 */
export function timeAngles(
	times: Tensor, // [batch, length], float64, or angles [batch, length, half]
	half: number,
	range: Periods,
	dtype: FloatType,
): Angles {
	if (times.shape.length === 3) return { cosine: cos(times), sine: sin(times) };
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
export function rotate(x: Tensor, { cosine, sine }: Angles): Tensor {
	const even = 2 * (cosine.shape.at(-1) as number);
	if (even === x.shape.at(-1)) return rotary(x, cosine, sine);
	return concat([rotary(slice(x, -1, 0, even), cosine, sine), slice(x, -1, even)], -1);
}
