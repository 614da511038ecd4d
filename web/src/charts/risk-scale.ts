/** A logarithmic scale of risks, shared by curves that are compared. */
export interface RiskScale {
	/** Powers of ten, increasing; the first and the last are the ends of the scale. */
	readonly ticks: readonly number[];
	/** From 0 at the lower end to 1 at the upper end; risks beyond an end are placed at it. */
	place(risk: number): number;
}

/** The exponents that the ends of the scale may have: 0.01 % to 1 %, and 10 % or 100 %. */
const [lower, upper] = [
	[-4, -2],
	[-1, 0],
] as const;

const within = (value: number, [least, most]: readonly [number, number]) =>
	Math.max(least, Math.min(most, value));

/** The scale of some risks: at least from 1 % to 10 %, in whole powers of ten, so that it seldom changes. */
export function riskScale(risks: readonly number[]): RiskScale {
	const logs = risks.filter((risk) => risk > 0).map(Math.log10);
	const from = within(Math.floor(Math.min(lower[1], ...logs)), lower);
	const to = within(Math.ceil(Math.max(upper[0], ...logs)), upper);
	return {
		ticks: Array.from({ length: to - from + 1 }, (_, at) => 10 ** (from + at)),
		place: (risk) => within((Math.log10(Math.max(risk, 1e-12)) - from) / (to - from), [0, 1]),
	};
}
