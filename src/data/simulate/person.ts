import type { Random } from "../../base/random.js";
import { yearDays } from "../../base/time.js";
import type { Sex } from "../records/rows.js";
import { firstDay, lastDay } from "./tables.js";

/** First and last day, both covered. */
export type Period = readonly [from: number, to: number];

/** A person without records. Days since 1970. */
export interface Person {
	readonly birth: number;
	readonly sex: Sex;
	/** In order, without overlap. Death may precede the end of a policy. */
	readonly coverage: readonly Period[];
}

/** Days since 1970-01-01. */
export interface OracleHistory {
	readonly birth: number;
	readonly sex: Sex;
	/** The first and last day of each policy; by default covered from birth without end. */
	readonly coverage?: readonly Period[];
	/** By time; records of a day in the order of the visit. */
	readonly events: readonly { readonly day: number; readonly code: string }[];
}

export function drawPerson(stream: Random): Person {
	const sex: Sex = stream.uniform() < 0.52 ? "female" : "male";
	const years = 5 + 15 * stream.uniform();
	const latest = lastDay - Math.floor(years * yearDays);
	const from = firstDay + stream.integer(latest - firstDay + 1);
	const to = from + Math.floor(years * yearDays);
	const birth = Math.floor(from - ageAtEnrolment(stream) * yearDays);
	return { birth, sex, coverage: withGaps(stream, [from, to]) };
}

/** Without policies, a person is covered from birth. */
export function personOf(birth: number, sex: Sex, coverage: readonly Period[] = []): Person {
	const always: Period = [birth, Number.MAX_SAFE_INTEGER];
	return { birth, sex, coverage: coverage.length === 0 ? [always] : coverage };
}

/** A few newborns, some children, most between 18 and 75. */
function ageAtEnrolment(stream: Random): number {
	const kind = stream.uniform();
	const share = stream.uniform();
	if (kind < 0.04) return 0;
	if (kind < 0.15) return 18 * share;
	if (kind < 0.45) return 18 + 60 * share;
	return 20 + 30 * (share + stream.uniform()); // triangular around 50
}

/** Most policies have no gap; about a fifth lapse once, a few twice. */
function withGaps(stream: Random, [from, to]: Period): Period[] {
	const kind = stream.uniform();
	const lapses = kind < 0.72 ? 0 : kind < 0.94 ? 1 : 2;
	const periods: Period[] = [];
	let start = from;
	for (let lapse = 0; lapse < lapses; lapse++) {
		const end = start + 200 + stream.integer(Math.max(1, (to - start) >> 1));
		const back = end + 60 + stream.integer(440);
		if (back + 200 > to) break;
		periods.push([start, end]);
		start = back;
	}
	periods.push([start, to]);
	return periods;
}

export function isCovered({ coverage }: Person, day: number): boolean {
	return coverage.some(([from, to]) => from <= day && day <= to);
}

/** Covered days in [from, to). */
export function coveredDays({ coverage }: Person, from: number, to: number): number {
	let days = 0;
	for (const [start, end] of coverage)
		days += Math.max(0, Math.min(end + 1, to) - Math.max(start, from));
	return days;
}
