import { InputError } from "../base/errors.js";

/** How many of the ascending values are at most `limit`. */
export function countUpTo(ascending: ArrayLike<number>, limit: number): number {
	let [low, high] = [0, ascending.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (ascending[middle] <= limit) low = middle + 1;
		else high = middle;
	}
	return low;
}

/**
 * The indices that sort values in ascending order; equal values stay in the order of `from`, by default that of
 * their indices. A radix sort by the bytes of the numbers, several times as fast as a comparator.
 */
export function ascendingOrder(values: ArrayLike<number>, from?: Int32Array): Int32Array {
	const { length } = values;
	const keys = new Float64Array(values);
	const words = new Uint32Array(keys.buffer);
	for (let i = 0; i < length; i++) {
		keys[i] += 0; // −0 equals 0.
		// Bit patterns order positive numbers as they are, and negative ones in reverse.
		const [low, high] = [2 * i, 2 * i + 1];
		if (words[high] >>> 31) {
			words[low] = ~words[low];
			words[high] = ~words[high];
		} else words[high] |= 0x80000000;
	}
	const bytes = new Uint8Array(keys.buffer);
	let order = new Int32Array(length);
	for (let i = 0; i < length; i++) order[i] = from ? from[i] : i;
	let next = new Int32Array(length);
	const starts = new Int32Array(256);
	for (let byte = 0; byte < 8; byte++) {
		starts.fill(0);
		for (let i = byte; i < bytes.length; i += 8) starts[bytes[i]] += 1;
		if (starts[bytes[byte]] === length) continue;
		for (let digit = 0, before = 0; digit < 256; digit++) {
			const count = starts[digit];
			starts[digit] = before;
			before += count;
		}
		for (let i = 0; i < length; i++) {
			const index = order[i];
			const digit = bytes[8 * index + byte];
			next[starts[digit]] = index;
			starts[digit] += 1;
		}
		[order, next] = [next, order];
	}
	return order;
}

/** `values[indices[i]]` for every i. */
export function pick(values: ArrayLike<number>, indices: ArrayLike<number>): Float64Array {
	const picked = new Float64Array(indices.length);
	for (let i = 0; i < picked.length; i++) picked[i] = values[indices[i]];
	return picked;
}

/** The 97.5 % quantile of the normal distribution, for 95 % intervals. */
export const normalQuantile = 1.959963984540054;

/** The quantile of sorted values, with linear interpolation. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
	const position = part * (sorted.length - 1);
	const below = Math.floor(position);
	const low = sorted[below];
	const high = sorted[Math.min(below + 1, sorted.length - 1)];
	return low + (high - low) * (position - below);
}

/** Binary labels; true or 1 is positive. */
export type BinaryLabels = ArrayLike<boolean | number>;

export function checkLabels(labels: BinaryLabels, scores: ArrayLike<number>, metric: string): void {
	if (labels.length !== scores.length)
		throw new InputError(
			`${metric}: ${labels.length} labels and ${scores.length} scores; expected one score per label`,
		);
	if (labels.length === 0)
		throw new InputError(`${metric}: there are no labels; expected at least one`);
	for (let i = 0; i < scores.length; i++)
		if (Number.isNaN(scores[i]))
			throw new InputError(`${metric}: score ${i} is not a number; expected one for every label`);
}

function checkBothClasses(labels: BinaryLabels, metric: string): void {
	let positive = 0;
	for (let i = 0; i < labels.length; i++) positive += Number(labels[i]);
	if (positive > 0 && positive < labels.length) return;
	throw new InputError(
		`${metric} needs both classes: all ${labels.length} labels are ${positive > 0 ? "positive" : "negative"}; ` +
			"use more patients, or another split",
	);
}

export function checkProbabilities(scores: ArrayLike<number>, metric: string): void {
	for (let i = 0; i < scores.length; i++) {
		const score = scores[i];
		if (!(score >= 0 && score <= 1))
			throw new InputError(`${metric}: score ${i} is ${score}; expected a probability from 0 to 1`);
	}
}

/** Area under the precision–recall curve, without interpolation. */
export function averagePrecision(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkLabels(labels, scores, "average precision");
	checkBothClasses(labels, "average precision");
	return ranking(labels, scores).averagePrecision();
}

/** P(a positive scores above a negative); ties count half. */
export function auroc(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkLabels(labels, scores, "AUROC");
	checkBothClasses(labels, "AUROC");
	return ranking(labels, scores).auroc();
}

/** Mean squared difference between probability and label. */
export function brier(labels: BinaryLabels, probabilities: ArrayLike<number>): number {
	return meanOf("Brier score", labels, probabilities, (label, p) => (p - label) ** 2);
}

/** Probabilities are clipped to this distance from 0 and 1, as in scikit-learn up to version 1.2. */
const certain = 1e-15;

/** Mean −log of the probability of the label; probabilities of 0 and 1 are clipped. */
export function logLoss(labels: BinaryLabels, probabilities: ArrayLike<number>): number {
	return meanOf("log loss", labels, probabilities, (label, probability) => {
		const p = Math.min(Math.max(probability, certain), 1 - certain);
		return -Math.log(label === 1 ? p : 1 - p);
	});
}

function meanOf(
	metric: string,
	labels: BinaryLabels,
	probabilities: ArrayLike<number>,
	loss: (label: number, probability: number) => number,
): number {
	checkLabels(labels, probabilities, metric);
	checkProbabilities(probabilities, metric);
	let sum = 0;
	for (let i = 0; i < labels.length; i++) sum += loss(Number(labels[i]), probabilities[i]);
	return sum / labels.length;
}

/**
 * The order of positives and negatives by score; equal scores count as one step. Sorts once; each metric then takes one
 * pass for any weights: label i counts `weights[i]` times or, with `owners`, `weights[owners[i]]` times. NaN if a class is
 * then missing.
 */
export function ranking(
	labels: BinaryLabels,
	scores: ArrayLike<number>,
	owners?: ArrayLike<number>,
) {
	const order = ascendingOrder(scores).reverse();
	const count = order.length;
	const positive = new Uint8Array(count);
	const owner = new Int32Array(count);
	/** 1 if the next score differs. */
	const ends = new Uint8Array(count);
	for (let i = 0; i < count; i++) {
		const entry = order[i];
		positive[i] = Number(labels[entry]);
		owner[i] = owners ? owners[entry] : entry;
		ends[i] = Number(i + 1 === count || scores[order[i + 1]] !== scores[entry]);
	}
	return {
		/** Σ precision · increase of recall over the distinct scores, from the highest. */
		averagePrecision(weights?: ArrayLike<number>): number {
			let [hits, misses, area, tied] = [0, 0, 0, 0];
			for (let i = 0; i < count; i++) {
				const weight = weights ? weights[owner[i]] : 1;
				if (positive[i]) tied += weight;
				else misses += weight;
				if (!ends[i] || tied === 0) continue;
				hits += tied;
				area += tied * (hits / (hits + misses));
				tied = 0;
			}
			return hits > 0 && misses > 0 ? area / hits : Number.NaN;
		},
		/** P(a positive scores above a negative); ties count half. */
		auroc(weights?: ArrayLike<number>): number {
			let [hits, misses, area, tied, tiedNegatives] = [0, 0, 0, 0, 0];
			for (let i = 0; i < count; i++) {
				const weight = weights ? weights[owner[i]] : 1;
				if (positive[i]) tied += weight;
				else tiedNegatives += weight;
				if (!ends[i]) continue;
				area += tiedNegatives * (hits + tied / 2);
				hits += tied;
				misses += tiedNegatives;
				tied = tiedNegatives = 0;
			}
			return hits > 0 && misses > 0 ? area / (hits * misses) : Number.NaN;
		},
	};
}
