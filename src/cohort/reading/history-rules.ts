import { dayMilliseconds, monthDays, type TimeAxis } from "../../base/time.js";

/*
 * The rules by which records become the events of a history, each as SQL for whole populations
 * (`prepare`) and as a function for single patients (new patients, requests, the page). A property test
 * compares the two.
 */

/** What the rules look at; SQL has columns of these names. */
export interface OrderedEvent {
	readonly time: number;
	/** 0 for diagnoses, 1 for all others. */
	readonly rank: number;
	/** The place of the record in its source. */
	readonly ord: number;
	/** The place of the concept among those that the record's code maps to. */
	readonly nth: number;
}

/**
 * Events are ordered by time. At one time diagnoses come first, so that a diagnosis never has the drug it
 * led to in its past; then the order of the source decides, then that of the code map.
 */
const eventOrder = ["time", "rank", "ord", "nth"] as const;

export const orderSql = (direction: "ASC" | "DESC" = "ASC"): string =>
	eventOrder.map((column) => `${column} ${direction}`).join(", ");

export function compareEvents(a: OrderedEvent, b: OrderedEvent): number {
	for (const column of eventOrder) if (a[column] !== b[column]) return a[column] - b[column];
	return 0;
}

export type Dedup = "none" | "day" | "month";

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
/** Months of the calendar, of times rounded to microseconds. */
const calendarMonths: Periods = {
	sql: `date_trunc('month', make_timestamp((time * ${dayMilliseconds * 1000})::BIGINT))`,
	of(time) {
		const date = new Date(Math.floor(Math.round(time * dayMilliseconds * 1000) / 1000));
		return 12 * date.getUTCFullYear() + date.getUTCMonth();
	},
};

/** Of the events of one patient, concept and rank within one period, the first counts; undefined if all do. */
export function periodsOf(dedup: Dedup, axis: TimeAxis): Periods | undefined {
	if (dedup === "none") return undefined;
	if (dedup === "day") return days;
	return axis === "dates" ? calendarMonths : months;
}

/** The first or last events of a patient that stay where `maxRecords` limits them. */
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

/** A birth after the first record is taken as unknown. */
export const birthSql = "CASE WHEN birth <= first THEN birth END";
export const birthOf = (birth: number | null, first: number): number | null =>
	birth !== null && birth <= first ? birth : null;

/** Whether a record lies after the day of death; it stays. */
export const isAfterDeathSql = "floor(death) < floor(last)";
export const isAfterDeath = (death: number | null, last: number): boolean =>
	death !== null && Math.floor(death) < Math.floor(last);

/** Death as an event, not before the last record: a date of death is the midnight that its day begins with. */
export const deathRecord = { code: "death", system: "Person", kind: "other" } as const;
export const deathTimeSql = "greatest(death, last)";
export const deathTime = (death: number, last: number): number => Math.max(death, last);

/** What was seen in the latest period, where a repetition within it does not count. */
export interface LatestPeriod {
	readonly period: number;
	readonly seen: ReadonlySet<number>;
}

/** Of events in order, the first of each concept, rank and period. */
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
		const own = periods.of(time);
		if (own !== period) seen.clear();
		period = own;
		const key = 2 * concept.id + rank;
		const isFirst = !seen.has(key);
		seen.add(key);
		return isFirst;
	});
	// Ids of concepts that are no token are negative, and hold for this reading only.
	const tokens = new Set([...seen].filter((key) => key >= 0));
	return { kept, latest: period === undefined ? undefined : { period, seen: tokens } };
}
