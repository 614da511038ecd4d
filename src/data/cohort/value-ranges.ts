import type { Store } from "../records/store.js";
import type { Concept } from "./concepts.js";
import type { Manifest } from "./manifest.js";
import { type BoundCandidate, boundsOf, rangeCode, rangeName, rangesOf } from "./values.js";
import { codeKey, type Token, type ValueRange, type Vocabulary } from "./vocabulary.js";

/** A range of the values of a concept. */
interface ConceptRange {
	readonly concept: number;
	readonly value: ValueRange;
}

/**
 * The ranges of the values of each kept code, per unit: at most `quantiles` of them, at quantiles of the kept training
 * patients' values. A range has at least `minCount` of these, so codes with fewer than twice as many are not divided.
 */
export async function learntRanges(
	store: Store,
	concepts: readonly Concept[],
	quantiles: number,
	minCount: number,
): Promise<readonly ConceptRange[]> {
	const candidates = await store.all<
		BoundCandidate & { concept: number; unit: string | null; total: number } & Record<
				string,
				string | number | null
			>
	>(`
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
	const scales = new Map<string, (typeof candidates)[number][]>();
	for (const one of candidates) {
		const key = JSON.stringify([one.concept, one.unit]);
		const own = scales.get(key);
		if (own) own.push(one);
		else scales.set(key, [one]);
	}
	return [...scales.values()].flatMap((own) => {
		const [{ concept, unit, total }] = own as [(typeof own)[number]];
		const bounds = boundsOf(own, total, minCount);
		if (bounds.length === 0) return [];
		return rangesOf(concepts[concept] as Concept, unit, bounds).map((value) => ({
			concept,
			value,
		}));
	});
}

/** The ranges of a given vocabulary. */
export function knownRanges(
	concepts: readonly Concept[],
	{ tokens }: Vocabulary,
): readonly ConceptRange[] {
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
	ranges: readonly ConceptRange[],
): Promise<readonly Concept[]> {
	const rows = ranges.map(({ concept, value: { unit, low, high } }, at) => ({
		...{ concept, unit, low, high, range: concepts.length + at },
	}));
	await store.create("value_range", {
		...{ concept: "whole", unit: "text", low: "number", high: "number", range: "whole" },
	});
	await store.append("value_range", rows);
	await store.run(`
		CREATE TABLE divided AS
		SELECT patient, time, coalesce(own.range, event.concept) AS concept, event.concept AS code, rank, ord, nth
		FROM event LEFT JOIN value_range AS own
			ON own.concept = event.concept AND own.unit IS NOT DISTINCT FROM event.unit
			AND (event.value > own.low OR own.low IS NULL) AND (event.value <= own.high OR own.high IS NULL)
			AND event.value IS NOT NULL`);
	await store.run("DROP TABLE event");
	await store.run("ALTER TABLE divided RENAME TO event");
	return [
		...concepts,
		...ranges.map(({ concept, value }) => ({
			...(concepts[concept] as Concept),
			...{ code: rangeCode(value), name: rangeName(value), value },
		})),
	];
}

/** What the manifest says of the values; reads table `final`. */
export async function countValues(
	store: Store,
	tokens: readonly Token[],
	quantiles: number,
): Promise<NonNullable<Manifest["values"]>> {
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
