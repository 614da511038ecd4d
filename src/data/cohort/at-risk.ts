import type { History, Period } from "./history.js";

/*
 * The rules of time at risk, in whole days; a time of day counts as its day:
 *
 * - Time at risk lies in one observation period and ends with it or with death. A gap ends it too.
 * - Records of the index day are history.
 * - Onset needs a look-back: so many observed days before the index day, in the same period.
 * - On equal days, onset precedes death, and death precedes the end of observation.
 */

/** Days of observation before the index day that onset needs: conditions that a patient brings surface in the first months. */
export const usualLookBack = 365;

type Facts = Pick<History, "observed" | "death">;
type Events = Pick<History, "tokens" | "times" | "birthEvents">;

/** Time at risk: after the day `from` (the index day), through the day `until`. */
export interface TimeAtRisk {
	readonly from: number;
	/** At least `from`; equal if the index day is the last day of observation. */
	readonly until: number;
	readonly endedBy: "death" | "end of observation";
}

export type NotAtRisk = "dead" | "not observed at the index day" | "look-back not covered";

/** The period that contains a day. */
const periodAt = (observed: readonly Period[], day: number): Period | undefined =>
	observed.find(({ start, end }) => start <= day && day <= end);

/** Why a patient is not at risk after an index day; null if the patient is. Someone who dies on that day is dead. */
export function whyNotAtRisk(
	{ observed, death }: Facts,
	indexTime: number,
	lookBack = usualLookBack,
): NotAtRisk | null {
	const day = Math.floor(indexTime);
	if (death !== null && Math.floor(death) <= day) return "dead";
	const period = periodAt(observed, day);
	if (!period) return "not observed at the index day";
	return day - period.start < lookBack ? "look-back not covered" : null;
}

/** The time at risk after an index day; null if there is none (see `whyNotAtRisk`). */
export function timeAtRisk(
	facts: Facts,
	indexTime: number,
	lookBack = usualLookBack,
): TimeAtRisk | null {
	if (whyNotAtRisk(facts, indexTime, lookBack) !== null) return null;
	const from = Math.floor(indexTime);
	const { end } = periodAt(facts.observed, from) as Period;
	const death = facts.death === null ? Number.POSITIVE_INFINITY : Math.floor(facts.death);
	return death <= end
		? { from, until: death, endedBy: "death" }
		: { from, until: end, endedBy: "end of observation" };
}

/** The days on which a patient can be indexed: exactly those with time at risk. */
export function indexPeriods({ observed, death }: Facts, lookBack = usualLookBack) {
	const lastAlive = death === null ? Number.POSITIVE_INFINITY : Math.floor(death) - 1;
	return observed
		.map(({ start, end }) => ({ start: start + lookBack, end: Math.min(end, lastAlive) }))
		.filter(({ start, end }) => start <= end);
}

/** Number of observed days. */
export const observedDays = (observed: readonly Period[]): number =>
	observed.reduce((days, { start, end }) => days + end - start + 1, 0);

/** Day number n, from 0, of periods; undefined if they have fewer. */
export function nthDay(periods: readonly Period[], n: number): number | undefined {
	let left = n;
	for (const { start, end } of periods) {
		if (left <= end - start) return start + left;
		left -= end - start + 1;
	}
	return undefined;
}

/**
 * What ends the time at risk of a code whose first record after the index day is on `day` (Infinity if never), and how
 * many days after the index day.
 */
export const outcomeOf = ({ from, until, endedBy }: TimeAtRisk, day: number) =>
	day <= until
		? { what: "onset" as const, after: day - from }
		: { what: endedBy, after: until - from };

/** Whether the patient already has each token up to `size` at an index day, and when it is next recorded, in one pass. */
export function recordDays(history: Events, size: number, indexTime: number) {
	const { tokens, times, birthEvents } = history;
	const index = Math.floor(indexTime);
	/** The last day up to and including the index day; −Infinity if there is none: the patient does not have it. */
	const before = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
	/** The first day after the index day; Infinity if there is none. */
	const after = new Float64Array(size).fill(Number.POSITIVE_INFINITY);
	let at = tokens.length - 1;
	for (; at >= birthEvents && Math.floor(times[at]) > index; at--)
		after[tokens[at]] = Math.floor(times[at]);
	for (let earlier = birthEvents; earlier <= at; earlier++)
		before[tokens[earlier]] = Math.floor(times[earlier]);
	return { before, after };
}

/** The day of the last record of any of the tokens up to and including an index day; −Infinity if there is none. */
export function lastRecordBefore(
	{ tokens, times, birthEvents }: Events,
	group: ReadonlySet<number>,
	indexTime: number,
): number {
	const index = Math.floor(indexTime);
	for (let at = tokens.length - 1; at >= birthEvents; at--) {
		const day = Math.floor(times[at]);
		if (day <= index && group.has(tokens[at])) return day;
	}
	return Number.NEGATIVE_INFINITY;
}

/** The day of the first record of any of the tokens after an index day; Infinity if there is none. */
export function firstRecordAfter(
	{ tokens, times, birthEvents }: Events,
	group: ReadonlySet<number>,
	indexTime: number,
): number {
	const index = Math.floor(indexTime);
	for (let at = birthEvents; at < tokens.length; at++) {
		const day = Math.floor(times[at]);
		if (day > index && group.has(tokens[at])) return day;
	}
	return Number.POSITIVE_INFINITY;
}
