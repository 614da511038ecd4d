import {
	add,
	log,
	maximum,
	mul,
	pad,
	slice,
	stack,
	sub,
	type Tensor,
} from "../../engine/tensor/index.js";

/** What is said of the time of a place. */
export const marks = 3;

/** A span that is about 1; a day is 0.07, a year 0.56. */
const longestDays = 36525;

/** log(1 + days) as a part of the longest; nothing below 0. */
const level = (days: Tensor): Tensor =>
	mul(log(add(maximum(days, 0), 1)), 1 / Math.log1p(longestDays));

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
	const until = sub(slice(days, 1, -1), days);
	return stack([level(days), level(gaps), mul(level(until), -1)], 2);
}

/** Of places that follow the last one, in order: `gaps` are the days since the last. */
export function marksAfter({ days, gaps }: Times): Tensor {
	const before = slice(pad(gaps, 1, 1, 0), 1, 0, gaps.shape[1] as number);
	return stack([level(days), level(sub(gaps, before)), level(gaps)], 2);
}
