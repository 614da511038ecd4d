import { dayMilliseconds, monthDays, type TimeAxis } from "../../../base/time.js";
import { type CodeMap, type IcdSystem, normaliseIcd } from "../../codes/map.js";
import type { RecordKind } from "../../records/rows.js";
import type { Filters, Manifest } from "../manifest.js";

/** The rules of a dataset by which new records are read; JSON, so that pages can use them too. */
export interface ReadingRules
	extends Readonly<Pick<Manifest["codes"], "map" | "level" | "keptUnmapped">>,
		Pick<Filters, "drugs" | "dedup" | "deathToken"> {
	/** The number of latest records to keep per patient; null for all. */
	readonly maxRecords: number | null;
	/** The time axis of the dataset; new records may have another. */
	readonly axis: TimeAxis;
}

/** If the dataset kept only the first records of long histories, later records are still read: they matter for predictions. */
export const readingRules = ({ codes, filters, source }: Manifest): ReadingRules => ({
	map: codes.map,
	level: codes.level,
	keptUnmapped: codes.keptUnmapped,
	drugs: filters.drugs,
	dedup: filters.dedup,
	deathToken: filters.deathToken,
	maxRecords: filters.keep === "last" ? filters.maxRecords : null,
	axis: source.axis,
});

export const codeRules = (
	{ map: name, keptUnmapped, drugs }: ReadingRules,
	map: CodeMap | undefined,
): CodeRules => ({
	codes: name === null ? "as-is" : "phecode",
	map,
	drugs,
	unmapped: keptUnmapped ? "keep" : "drop",
});

/** How a dataset maps codes. */
export interface CodeRules {
	/** Maps diagnoses to PheCodes, or leaves their codes as they are. */
	readonly codes: "phecode" | "as-is";
	/** Without a map, no ICD code is known. */
	readonly map: Pick<CodeMap, "phecodesOf" | "phecodesOfSnomed"> | undefined;
	/** What happens to ICD codes, and to SNOMED codes if the map has any, that it does not know. */
	readonly unmapped: "drop" | "keep";
	readonly drugs: Filters["drugs"];
}

export interface WrittenCode {
	readonly system: string;
	readonly code: string;
	readonly kind: RecordKind;
}

const isIcd = (system: string): system is IcdSystem => system === "ICD9CM" || system === "ICD10CM";

/**
 * The concepts that a recorded code stands for: candidates for tokens, in order. `code` is an ICD code as its
 * classification prints it; `phecodes` are those of a diagnosis, whether or not they become tokens. Diagnoses (`rank` 0)
 * precede other events at the same time, so a diagnosis never follows the drug it led to.
 */
export function conceptsOf({ system, code: written, kind }: WrittenCode, rules: CodeRules) {
	const icd = kind === "diagnosis" && isIcd(system) ? system : undefined;
	const code = (icd && normaliseIcd(icd, written)) ?? written;
	const ofSnomed =
		kind === "diagnosis" && system === "SNOMED" ? rules.map?.phecodesOfSnomed : undefined;
	const phecodes = (icd ? rules.map?.phecodesOf(icd, code) : ofSnomed?.(code)) ?? [];
	const common = { code, phecodes, rank: kind === "diagnosis" ? 0 : 1 } as const;
	if (kind === "drug" && rules.drugs !== "tokens")
		return { ...common, outcome: "a drug without a token" as const, concepts: [] };
	if ((!icd && !ofSnomed) || rules.codes === "as-is")
		return { ...common, outcome: "as it is" as const, concepts: [{ system, code }] };
	if (phecodes.length === 0)
		return {
			...common,
			outcome: "not in the map" as const,
			concepts: rules.unmapped === "keep" ? [{ system, code }] : [],
		};
	return {
		...common,
		outcome: "mapped" as const,
		concepts: phecodes.map((phecode) => ({ system: "PheCode", code: phecode })),
	};
}

/*
 * The rules by which records become the events of a history, each as SQL for whole populations
 * (`prepare`) and as a function for single patients (new patients, requests, the page). A property test
 * compares the two.
 */

/**
 * Events are ordered by time. At one time diagnoses come first, so that a diagnosis never has the drug it
 * led to in its past; then the order of the source decides, then that of the code map.
 */
const eventOrder = ["time", "rank", "ord", "nth"] as const;

/**
 * The fields that the rules use; SQL has columns of the same names. `rank` is 0 for diagnoses and 1 for all others, `ord`
 * the position of the record in its source, and `nth` that of the concept among those of the record's code.
 */
export type OrderedEvent = Readonly<Record<(typeof eventOrder)[number], number>>;

export const orderSql = (direction: "ASC" | "DESC" = "ASC"): string =>
	eventOrder.map((column) => `${column} ${direction}`).join(", ");

export function compareEvents(a: OrderedEvent, b: OrderedEvent): number {
	return a.time - b.time || a.rank - b.rank || a.ord - b.ord || a.nth - b.nth;
}

export type Dedup = ReadingRules["dedup"];

/** The period of an event, as SQL and as a number. */
interface Periods {
	readonly sql: string;
	of(time: number): number;
}

const days: Periods = { sql: "floor(time)", of: Math.floor };
const months: Periods = {
	sql: `floor(time / ${monthDays})`,
	of: (time) => Math.floor(time / monthDays),
};
/** Calendar months, of times rounded to microseconds. */
const calendarMonths: Periods = {
	sql: `date_trunc('month', make_timestamp((time * ${dayMilliseconds * 1000})::BIGINT))`,
	of(time) {
		const date = new Date(Math.floor(Math.round(time * dayMilliseconds * 1000) / 1000));
		return 12 * date.getUTCFullYear() + date.getUTCMonth();
	},
};

/** The periods within which only the first event of each concept and rank counts; undefined if all count. */
export function periodsOf(dedup: Dedup, axis: TimeAxis): Periods | undefined {
	if (dedup === "none") return undefined;
	if (dedup === "day") return days;
	return axis === "dates" ? calendarMonths : months;
}

/** Keeps the first or last `maxRecords` events of each patient. */
export const cutSql = (maxRecords: number, keep: "first" | "last"): string =>
	`row_number() OVER (PARTITION BY patient ORDER BY ${orderSql(keep === "last" ? "DESC" : "ASC")}) <= ${maxRecords}`;

export const cutEvents = <Event>(
	events: readonly Event[],
	maxRecords: number | null,
	keep: "first" | "last",
): readonly Event[] => {
	if (maxRecords === null) return events;
	return keep === "last" ? events.slice(-maxRecords) : events.slice(0, maxRecords);
};

/** A birth date after the first record counts as unknown. */
export const birthSql = "CASE WHEN birth <= first THEN birth END";
export const birthOf = (birth: number | null, first: number): number | null =>
	birth !== null && birth <= first ? birth : null;

/** Whether a record lies after the day of death; such records are kept. */
export const isAfterDeathSql = "floor(death) < floor(last)";
export const isAfterDeath = (death: number | null, last: number): boolean =>
	death !== null && Math.floor(death) < Math.floor(last);

/** Death as an event. It is never before the last record, because a date of death means the start of that day. */
export const deathRecord = { code: "death", system: "Person", kind: "other" } as const;
export const deathTimeSql = "greatest(death, last)";
export const deathTime = (death: number, last: number): number => Math.max(death, last);

/** The concepts already recorded in the latest period; further records of them are repetitions. */
export interface LatestPeriod {
	readonly period: number;
	readonly seen: ReadonlySet<number>;
}

/** Keeps the first event of each concept, rank and period. Expects events in order. */
export function withoutRepetitions<
	Event extends OrderedEvent & { readonly concept: { readonly id: number } },
>(
	events: readonly Event[],
	periods: Periods | undefined,
	before?: LatestPeriod,
): { readonly kept: readonly Event[]; readonly latest: LatestPeriod | undefined } {
	if (!periods) return { kept: events, latest: undefined };
	let period = before?.period;
	const seen = new Set(before?.seen);
	const kept = events.filter(({ time, concept, rank }) => {
		const current = periods.of(time);
		if (current !== period) seen.clear();
		period = current;
		const key = 2 * concept.id + rank;
		const isFirst = !seen.has(key);
		seen.add(key);
		return isFirst;
	});
	// Concepts without a token have negative ids, which are valid for this call only.
	const tokens = new Set([...seen].filter((key) => key >= 0));
	return { kept, latest: period === undefined ? undefined : { period, seen: tokens } };
}
