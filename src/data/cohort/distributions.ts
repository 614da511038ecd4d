import { type TimeUnit, unitFor } from "../../base/time.js";

/** The shape of a distribution in a few numbers. */
export interface Spread {
	readonly min: number;
	readonly quarter: number;
	readonly median: number;
	readonly threeQuarters: number;
	/** In summaries of a dataset rounded up: see `privacy-rounding.ts`. */
	readonly max: number;
	readonly mean: number;
}

/** Counts how often each value occurs. Memory stays small because `add` rounds values (see `keyOf`). */
export interface ValueCounts {
	readonly size: number;
	add(value: number): void;
	/** Null if there are no values. */
	spread(): Spread | null;
	/** The value that the fraction `part` of all values does not exceed; NaN if there are none. */
	quantile(part: number): number;
	/** Each value with its count, ascending. */
	entries(): readonly (readonly [value: number, times: number])[];
}

const wholeLimit = 2 ** 17;
const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
const high = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0; // where the exponent lies

/**
 * The integer key of a value. A whole number (days: 2^17 is 358 years) is its own key; any other value has a
 * negative key made of its sign, its exponent and ten rounded bits, precise to one part in a thousand.
 * Values within a second of a whole day count as that day.
 */
function keyOf(value: number): number {
	const whole = Math.round(value);
	if (whole >= 0 && whole < wholeLimit && Math.abs(value - whole) < 1e-5) return whole + 0;
	float[0] = value;
	return -1 - ((words[high] + 512) >>> 10);
}

function valueAt(key: number): number {
	if (key >= 0) return key;
	words[1 - high] = 0;
	words[high] = (-1 - key) << 10;
	return float[0];
}

export function countValues(parts: readonly ValueCounts[] = []): ValueCounts {
	/** By key: of whole numbers in an array, which grows with the largest, and of others in a map. */
	let wholes = new Float64Array(1024);
	const others = new Map<number, number>();
	let size = 0;
	let sum = 0;
	let sorted: readonly (readonly [number, number])[] | undefined;
	const put = (value: number, count: number) => {
		const key = keyOf(value);
		if (key >= wholes.length) {
			const longer = new Float64Array(2 ** Math.ceil(Math.log2(key + 1)));
			longer.set(wholes);
			wholes = longer;
		}
		if (key >= 0) wholes[key] += count;
		else others.set(key, (others.get(key) ?? 0) + count);
		size += count;
		sum += value * count;
		sorted = undefined;
	};
	for (const part of parts) for (const [value, count] of part.entries()) put(value, count);

	const entries = () => {
		sorted ??= [...Array.from(wholes.entries()).filter(([, count]) => count > 0), ...others]
			.map(([key, count]) => [valueAt(key), count] as const)
			.sort(([a], [b]) => a - b);
		return sorted;
	};
	/** The value at a position (from 0) of the sorted values. */
	const at = (position: number) => {
		let before = 0;
		for (const [value, count] of entries()) {
			before += count;
			if (before > position) return value;
		}
		return Number.NaN;
	};
	const quantile = (part: number) => at(Math.round(part * (size - 1)));
	return {
		get size() {
			return size;
		},
		add: (value) => put(value, 1),
		spread: () =>
			size === 0
				? null
				: {
						min: quantile(0),
						quarter: quantile(0.25),
						median: quantile(0.5),
						threeQuarters: quantile(0.75),
						max: quantile(1),
						mean: sum / size,
					},
		quantile,
		entries,
	};
}

export interface Histogram {
	/** The unit of `edges`. */
	readonly unit: "records" | TimeUnit["name"];
	/** `log`: each bin is twice as wide as the previous one. */
	readonly scale: "linear" | "log";
	/** Whether all values are whole numbers. */
	readonly whole: boolean;
	/** One more than `counts`: bin i contains values ≥ edges[i] and < edges[i + 1]. */
	readonly edges: readonly number[];
	readonly counts: readonly number[];
	/** The number of zeros, which a log scale cannot show. */
	readonly zero: number;
	/** The number of values above the last edge: a thin tail, left out to keep the rest legible. */
	readonly above: number;
	/** In summaries of a dataset rounded up: see `privacy-rounding.ts`. */
	readonly max: number;
}

const mostBins = 30;
/** A tail is cut off if it would take more than this share of the width. */
const tailShare = 0.4;
/** The cut-off tail contains at most this share of the values. */
const tailPart = 0.01;

/** The smallest bin width of 1, 2 or 5 times a power of ten that needs at most 30 bins. */
function niceStep(width: number, least: number): number {
	const step = Math.max(width / mostBins, least);
	const power = 10 ** Math.floor(Math.log10(step));
	return ([1, 2, 5, 10].find((times) => times * power >= step * (1 - 1e-9)) as number) * power;
}

const areWhole = (values: ValueCounts) =>
	values.entries().every(([value]) => Number.isInteger(value));

function linear(values: ValueCounts, unit: Histogram["unit"], unitSize: number, finest: number) {
	if (values.size === 0) return null;
	const whole = unitSize === 1 && areWhole(values);
	const min = values.quantile(0) / unitSize;
	const max = values.quantile(1) / unitSize;
	const body = values.quantile(1 - tailPart) / unitSize;
	const shown = max - body > tailShare * (max - min) ? body : max;
	const step = niceStep(shown - min, whole ? 1 : finest);
	// Edges as quotients, since 3 · 0.1 is not 0.3.
	const edge = (at: number) => (step < 1 ? at / Math.round(1 / step) : at * step);
	const first = Math.floor(min / step + 1e-9);
	const bins = Math.max(1, Math.floor(shown / step + 1e-9) - first + 1);
	const counts = Array.from({ length: bins }, () => 0);
	let above = 0;
	for (const [value, times] of values.entries()) {
		const bin = Math.floor(value / unitSize / step + 1e-9) - first;
		if (bin < bins) counts[bin] += times;
		else above += times;
	}
	return {
		unit,
		scale: "linear" as const,
		whole,
		edges: Array.from({ length: bins + 1 }, (_, at) => edge(first + at)),
		counts,
		zero: 0,
		above,
		max,
	};
}

export const recordHistogram = (records: ValueCounts): Histogram | null =>
	linear(records, "records", 1, 1);

/** The narrowest bins. */
const finest = { years: 0.1, days: 0.001, hours: 0.01 } as const;

/** A histogram of days, in the unit that fits the longest. */
export function durationHistogram(days: ValueCounts): Histogram | null {
	const { name, days: size } = unitFor(days.quantile(1));
	return linear(days, name, size, finest[name]);
}

/** 2^-10 days: 84 seconds. */
const leastExponent = -10;

/** A histogram of days in bins that double; gaps below 84 seconds go into the first bin. */
export function gapHistogram(days: ValueCounts): Histogram | null {
	if (days.size === 0) return null;
	const byExponent = new Map<number, number>();
	let zero = 0;
	for (const [value, times] of days.entries()) {
		if (value <= 0) zero += times;
		else {
			const exponent = Math.max(leastExponent, Math.floor(Math.log2(value)));
			byExponent.set(exponent, (byExponent.get(exponent) ?? 0) + times);
		}
	}
	const exponents = [...byExponent.keys()];
	const first = exponents.length > 0 ? Math.min(...exponents) : 0;
	const last = exponents.length > 0 ? Math.max(...exponents) : 0;
	const all = Array.from({ length: last - first + 1 }, (_, at) => first + at);
	return {
		unit: "days",
		scale: "log",
		whole: areWhole(days),
		edges: [...all, last + 1].map((exponent) => 2 ** exponent),
		counts: all.map((exponent) => byExponent.get(exponent) ?? 0),
		zero,
		above: 0,
		max: days.quantile(1),
	};
}
