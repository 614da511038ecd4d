import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import { codeKey, type Token, type ValueRange, type Vocabulary } from "./vocabulary.js";

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

/**
 * Leaves out bounds that would make a range of fewer than `least` of all `total` values. Candidates are in ascending
 * order, each with the number of values up to and including it.
 */
export function boundsOf(
	candidates: readonly { readonly value: number; readonly upTo: number }[],
	total: number,
	least: number,
) {
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
		code,
		name,
		unit,
		low: bounds[at - 1] ?? null,
		high: bounds[at] ?? null,
		quantile: at + 1,
		of: bounds.length + 1,
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
	const scaleUnit = unit === undefined ? [...units][0] : unitText(unit);
	return ranges.find((token) => {
		const range = rangeOf(token);
		return (
			range.unit === scaleUnit &&
			(range.low === null || value > range.low) &&
			(range.high === null || value <= range.high)
		);
	});
}

/** Ranges of the values of concepts. */
type ConceptRanges = ReturnType<typeof knownRanges>;

/**
 * The ranges of the values of each kept code, per unit: at most `quantiles` of them, at quantiles of the kept training
 * patients' values. A range has at least `minCount` of these, so codes with fewer than twice as many are not divided.
 */
export async function learntRanges(
	store: Store,
	concepts: readonly Concept[],
	quantiles: number,
	minCount: number,
) {
	type Candidate = Record<"concept" | "value" | "upTo" | "total", number> & { unit: string | null };
	const candidates = await store.all<Candidate>(`
		WITH counted AS (
			SELECT concept, unit, value, count(*)::BIGINT AS n
			FROM event JOIN kept_patient ON kept_patient.id = event.patient
			SEMI JOIN kept_concept ON kept_concept.id = event.concept
			WHERE split = 'train' AND value IS NOT NULL GROUP BY ALL),
		summed AS (
			SELECT *, (sum(n) OVER (PARTITION BY concept, unit ORDER BY value))::BIGINT AS upTo,
				(sum(n) OVER (PARTITION BY concept, unit))::BIGINT AS total
			FROM counted)
		SELECT concept, unit, value, upTo, total
		FROM (SELECT *, least(${quantiles}, total // ${minCount}) AS parts FROM summed)
		WHERE upTo < total AND upTo * parts // total > (upTo - n) * parts // total
		ORDER BY concept, unit NULLS FIRST, value`);
	const scales: Candidate[][] = [];
	for (const [at, candidate] of candidates.entries()) {
		const before = candidates[at - 1];
		if (before?.concept === candidate.concept && before.unit === candidate.unit)
			scales.at(-1)?.push(candidate);
		else scales.push([candidate]);
	}
	return scales.flatMap((scale) => {
		const [{ concept, unit, total }] = scale;
		const bounds = boundsOf(scale, total, minCount);
		if (bounds.length === 0) return [];
		return rangesOf(concepts[concept], unit, bounds).map((value) => ({ concept, value }));
	});
}

/** The ranges of a given vocabulary. */
export function knownRanges(concepts: readonly Concept[], { tokens }: Vocabulary) {
	const numbers = new Map(concepts.map((concept, at) => [codeKey(concept), at]));
	return tokens.flatMap((token) => {
		const concept = token.value && numbers.get(codeKey(token));
		return token.value && concept !== undefined ? [{ concept, value: token.value }] : [];
	});
}

/**
 * Makes each range a concept, which replaces the code in `event`; column `code` keeps the code's own concept. Returns
 * the concepts, with the ranges at the end.
 */
export async function divideValues(
	store: Store,
	concepts: readonly Concept[],
	ranges: ConceptRanges,
): Promise<readonly Concept[]> {
	const rows = ranges.map(({ concept, value: { unit, low, high } }, at) => ({
		concept,
		unit,
		low,
		high,
		range: concepts.length + at,
	}));
	await store.create(
		"value_range",
		"concept INTEGER, unit VARCHAR, low DOUBLE, high DOUBLE, range INTEGER",
	);
	await store.append("value_range", rows);
	await store.run(`
		CREATE OR REPLACE TABLE event AS
		SELECT patient, time, coalesce(own.range, event.concept) AS concept, event.concept AS code, rank, ord, nth
		FROM event LEFT JOIN value_range AS own
			ON own.concept = event.concept AND own.unit IS NOT DISTINCT FROM event.unit
			AND (event.value > own.low OR own.low IS NULL) AND (event.value <= own.high OR own.high IS NULL)
			AND event.value IS NOT NULL`);
	return [
		...concepts,
		...ranges.map(({ concept, value }) => ({
			...concepts[concept],
			code: rangeCode(value),
			name: rangeName(value),
			value,
		})),
	];
}

/** What the manifest says of the values; reads table `final`. */
export async function countValues(store: Store, tokens: readonly Token[], quantiles: number) {
	const ranges = tokens.flatMap((token, at) => (token.value ? [{ token, at }] : []));
	const numbers = ranges.map(({ at }) => at);
	return {
		quantiles,
		codes: new Set(ranges.map(({ token }) => codeKey(token))).size,
		tokens: ranges.length,
		events:
			numbers.length === 0 ? 0 : await store.count(`final WHERE token IN (${numbers.join(", ")})`),
	};
}
