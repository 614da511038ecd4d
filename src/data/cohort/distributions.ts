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

const wholeLimit = 2 ** 17;

/**
 * SQL that rounds a value, so that a distribution has few different ones: to a whole number (days: 2^17 is 358 years)
 * within a second of it, any other to ten binary digits, which is one part in a thousand.
 */
export function roundedSql(value: string): string {
	const step = `pow(2, floor(log2(abs(${value}))) - 10)`;
	return `CASE WHEN round(${value}) BETWEEN 0 AND ${wholeLimit - 1} AND abs(${value} - round(${value})) < 1e-5
		THEN round(${value}) + 0 ELSE round(${value} / ${step}) * ${step} END`;
}

/** How often each rounded value occurs, and the sum of the values before rounding; ascending. */
export function distributionOf(
	entries: readonly { readonly value: number; readonly times: number; readonly sum: number }[],
) {
	const size = entries.reduce((sum, { times }) => sum + times, 0);
	/** The value that the fraction `part` of all values does not exceed; NaN if there are none. */
	const quantile = (part: number): number => {
		const position = Math.round(part * (size - 1));
		let before = 0;
		for (const { value, times } of entries) {
			before += times;
			if (before > position) return value;
		}
		return Number.NaN;
	};
	return {
		size,
		entries,
		quantile,
		/** Null if there are no values. */
		spread: (): Spread | null =>
			size === 0
				? null
				: {
						min: quantile(0),
						quarter: quantile(0.25),
						median: quantile(0.5),
						threeQuarters: quantile(0.75),
						max: quantile(1),
						mean: entries.reduce((total, { sum }) => total + sum, 0) / size,
					},
	};
}

export type Distribution = ReturnType<typeof distributionOf>;

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

const areWhole = (values: Distribution) =>
	values.entries.every(({ value }) => Number.isInteger(value));

function linear(values: Distribution, unit: Histogram["unit"], unitSize: number, finest: number) {
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
	for (const { value, times } of values.entries) {
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

export const recordHistogram = (records: Distribution): Histogram | null =>
	linear(records, "records", 1, 1);

/** The narrowest bins. */
const finest = { years: 0.1, days: 0.001, hours: 0.01 } as const;

/** A histogram of days, in the unit that fits the longest. */
export function durationHistogram(days: Distribution): Histogram | null {
	const { name, days: size } = unitFor(days.quantile(1));
	return linear(days, name, size, finest[name]);
}

/** 2^-10 days: 84 seconds. */
const leastExponent = -10;

/** A histogram of days in bins that double; gaps below 84 seconds go into the first bin. */
export function gapHistogram(days: Distribution): Histogram | null {
	if (days.size === 0) return null;
	const byExponent = new Map<number, number>();
	let zero = 0;
	for (const { value, times } of days.entries) {
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
