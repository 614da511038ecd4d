import { quantile } from "../quantile.js";

export interface Distribution {
	readonly count: number;
	readonly mean: number;
	/** 95 % interval of the mean: 1.96 standard errors to each side; the mean itself for a single value. */
	readonly low: number;
	readonly high: number;
	readonly quartiles: readonly [lower: number, median: number, upper: number];
}

const z = 1.959963984540054;

/** The distribution of values; undefined if there are none. */
export function distributionOf(values: readonly number[]): Distribution | undefined {
	if (values.length === 0) return undefined;
	const sorted = Float64Array.from(values).sort();
	const count = values.length;
	const mean = values.reduce((sum, value) => sum + value, 0) / count;
	const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
	const half = count < 2 ? 0 : z * Math.sqrt(squares / (count - 1) / count);
	return {
		count,
		mean,
		low: mean - half,
		high: mean + half,
		quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)],
	};
}

export interface Density {
	readonly at: number;
	/** Relative density; 1 at the maximum. */
	readonly thickness: number;
}

const points = 81;

/** The density of shares between 0 and 1: Gaussian kernels, reflected at both ends. */
export function shareDensity(values: readonly number[]): Density[] {
	const spread = distributionOf(values);
	if (!spread) return [];
	const [lower, , upper] = spread.quartiles;
	const width = Math.max(0.03, (0.9 * (upper - lower)) / 1.34 / values.length ** 0.2);
	const kernel = (distance: number) => Math.exp(-0.5 * (distance / width) ** 2);
	const raw = Array.from({ length: points }, (_, index) => {
		const at = index / (points - 1);
		return {
			at,
			thickness: values.reduce(
				(sum, value) => sum + kernel(at - value) + kernel(at + value) + kernel(2 - at - value),
				0,
			),
		};
	});
	const most = Math.max(...raw.map(({ thickness }) => thickness));
	return raw.map(({ at, thickness }) => ({ at, thickness: thickness / most }));
}
