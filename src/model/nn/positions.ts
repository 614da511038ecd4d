import type { FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { table } from "./layers.js";

/**
 * Fixed positions [places, width]: the sine and the cosine, side by side, of place / 10000^(2i / width)
 * for each pair i (Vaswani et al. 2017).
 */
export const sinusoids = (
	places: number,
	width: number,
	dtype: Tensor["dtype"] = "float32",
): Tensor =>
	table(
		[places, width],
		(place, i) => {
			const angle = place / 10000 ** ((i - (i % 2)) / width);
			return i % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
		},
		dtype,
	);

interface TimeEncodingOptions {
	/** Sines and cosines together: even. */
	readonly width: number;
	/** Of the slowest wave, which turns once in 2π of them; the fastest has 1. */
	readonly longest: number;
}

/**
 * Times as waves: sin(t / λ) of all scales λ, then cos(t / λ), where λ go from 1 to the longest in
 * equal ratios. [..., width]
 */
export function timeEncoding(times: Tensor, { width, longest }: TimeEncodingOptions): Tensor {
	const waves = width / 2;
	const scales = Array.from(
		{ length: waves },
		(_, i) => longest ** (waves === 1 ? 0 : i / (waves - 1)),
	);
	const angles = times
		.reshape([...times.shape, 1])
		.div(graph.constant(scales, [waves], times.dtype));
	return graph.concat([angles.sin(), angles.cos()], -1);
}

/** What is said of the time of a place. */
export const marks = 3;

/** A span that is about 1; a day is 0.07, a year 0.56. */
const longestDays = 36525;

/** log(1 + days) as a part of the longest; nothing below 0. */
export const timeLevel = (days: Tensor): Tensor =>
	days
		.maximum(0)
		.add(1)
		.log()
		.mul(1 / Math.log1p(longestDays));

interface Times {
	/** Since the row's first place. */
	readonly days: Tensor; // [rows, places]
	/** Since the place before. */
	readonly gaps: Tensor; // [rows, places]
}

/**
 * Times of places up to a row's last one, to be read beside those of places that follow:
 * since the first place, since the one before, and (below 0) until the last. [rows, places, marks]
 */
export function marksBefore({ days, gaps }: Times): Tensor {
	const until = days.slice(1, -1).sub(days);
	return graph.stack([timeLevel(days), timeLevel(gaps), timeLevel(until).mul(-1)], 2);
}

/** Of places that follow the last one, in order: `gaps` are the days since the last. */
export function marksAfter({ days, gaps }: Times): Tensor {
	const before = gaps.pad(1, 1, 0).slice(1, 0, gaps.shape[1] as number);
	return graph.stack([timeLevel(days), timeLevel(gaps.sub(before)), timeLevel(gaps)], 2);
}

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
		const turns = times[Math.floor(i / half)] * frequency[i % half];
		return (turns - Math.floor(turns)) * 2 * Math.PI;
	});
}

/**
 * Cosine and sine of 2π t / period for every time and period. Whole turns are taken off in
 * float64: a century counted in 2-day periods has no digits left for the angle in float32.
 * Times may also come as angles, with these turns taken off already. Indices of events take the place of times as well.
 */
export function timeAngles(
	times: Tensor, // [batch, length], or angles [batch, length, half]
	half: number,
	range: Periods,
	dtype: FloatType,
): Angles {
	if (times.shape.length === 3) return { cosine: times.cos(), sine: times.sin() };
	const frequency = graph.constant(
		periods(half, range).map((p) => 1 / p),
		[half],
		times.dtype,
	);
	const turns = times.reshape([...times.shape, 1]).mul(frequency);
	const angle = turns
		.sub(turns.floor())
		.mul(2 * Math.PI)
		.cast(dtype); // [batch, length, half]
	return { cosine: angle.cos(), sine: angle.sin() };
}

/** Turns x [batch, heads, length, size] by the angles of its slots; an odd last element stays as it is. */
export function rotate(x: Tensor, { cosine, sine }: Angles): Tensor {
	const even = 2 * (cosine.shape.at(-1) as number);
	if (even === x.shape.at(-1)) return graph.rotary(x, cosine, sine);
	return graph.concat([graph.rotary(x.slice(-1, 0, even), cosine, sine), x.slice(-1, even)], -1);
}
