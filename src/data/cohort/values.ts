import type { Token, ValueRange } from "./vocabulary.js";

/*
 * Numeric values as tokens. The values of a code in one unit form a scale, which is divided into ranges at quantiles
 * of the training patients' values: range k holds the values above bound k − 1, up to and including bound k. Equal
 * values are thus always in the same range.
 */

/** A value as it is compared with bounds: in single precision, as MEDS stores it. Undefined if there is none. */
function comparableValue(value: number | null | undefined): number | undefined {
	if (value === null || value === undefined) return undefined;
	const rounded = Math.fround(value);
	return Number.isFinite(rounded) ? rounded : undefined;
}

/** The same in SQL. */
export const comparableValueSql = (value: string): string =>
	`CASE WHEN isfinite(try_cast(${value} AS FLOAT)) THEN try_cast(${value} AS FLOAT)::DOUBLE END`;

/** A unit without blanks around it; null if there is none. */
const unitText = (unit: string | null): string | null => unit?.trim() || null;
export const unitSql = (unit: string): string => `nullif(trim(${unit}), '')`;

/** A number of values, in ascending order, up to and including each candidate for a bound. */
export interface BoundCandidate {
	readonly value: number;
	readonly upTo: number;
}

/** Leaves out bounds that would make a range of fewer than `least` of all `total` values. */
export function boundsOf(
	candidates: readonly BoundCandidate[],
	total: number,
	least: number,
): number[] {
	const bounds: number[] = [];
	let before = 0;
	for (const { value, upTo } of candidates) {
		if (upTo - before < least || total - upTo < least) continue;
		bounds.push(value);
		before = upTo;
	}
	return bounds;
}

/** The ranges between the bounds of a scale. */
export const rangesOf = (
	{ code, name }: { readonly code: string; readonly name: string },
	unit: string | null,
	bounds: readonly number[],
): ValueRange[] =>
	Array.from({ length: bounds.length + 1 }, (_, at) => ({
		...{ code, name, unit, low: bounds[at - 1] ?? null, high: bounds[at] ?? null },
		...{ quantile: at + 1, of: bounds.length + 1 },
	}));

export const rangeCode = ({ code, unit, quantile }: ValueRange): string =>
	[code, unit, `Q${quantile}`].filter(Boolean).join(" ");

const shown = (bound: number) => String(Number(bound.toPrecision(6)));

/** `Glucose 5.6–6.1 mmol/L (quantile 7 of 10)`. */
export function rangeName({ name, unit, low, high, quantile, of }: ValueRange): string {
	const range =
		low === null
			? `≤ ${shown(high as number)}`
			: high === null
				? `> ${shown(low)}`
				: `${shown(low)}–${shown(high)}`;
	return `${[name, range, unit].filter(Boolean).join(" ")} (quantile ${quantile} of ${of})`;
}

/**
 * The token of a value among those of its code's ranges; undefined if there is none for its unit. Where the unit is
 * unknown (undefined, while null means that there is none), the code must have a single unit.
 */
export function rangeToken(
	tokens: readonly Token[],
	ranges: readonly number[],
	given: number | null | undefined,
	unit: string | null | undefined,
): number | undefined {
	const value = comparableValue(given);
	if (value === undefined) return undefined;
	const rangeOf = (token: number) => tokens[token]?.value as ValueRange;
	const units = new Set(ranges.map((token) => rangeOf(token).unit));
	if (unit === undefined && units.size > 1) return undefined;
	const own = unit === undefined ? [...units][0] : unitText(unit);
	return ranges.find((token) => {
		const range = rangeOf(token);
		return (
			range.unit === own &&
			(range.low === null || value > range.low) &&
			(range.high === null || value <= range.high)
		);
	});
}
