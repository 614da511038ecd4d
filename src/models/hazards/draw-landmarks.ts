import type { Random } from "../../base/random.js";
import { indexPeriods, timeAtRisk, whyNotAtRisk } from "../../cohort/at-risk.js";
import type { RowSource } from "../../cohort/batches.js";
import type { History } from "../../cohort/history.js";
import type { AtRisk } from "./landmarks.js";
import type { HazardSettings } from "./settings.js";

export interface DrawnLandmark extends AtRisk {
	/** The index day. */
	readonly day: number;
}

const dayOf = ({ times }: History, event: number): number => Math.floor(times[event] as number);

/** How many events of a row come up to a day, itself included. */
export function knownAt({ history, from, to }: RowSource, day: number): number {
	let known = from;
	while (known < to && dayOf(history, known) <= day) known++;
	return history.birthEvents + known - from;
}

function landmarkAt(
	history: History,
	day: number,
	{ lookBackDays }: HazardSettings,
): DrawnLandmark | undefined {
	const atRisk = timeAtRisk(history, day, 0);
	if (!atRisk || atRisk.until === day) return undefined;
	const { until, endedBy } = atRisk;
	const onset = whyNotAtRisk(history, day, lookBackDays) === null;
	return { day, until, died: endedBy === "death", onset };
}

/**
 * A day on which the row's events are the latest known: drawn evenly from the time in which the
 * patient is observed (and has been for long enough, if that is ever so), or the day of a record.
 * None where the draw is not at risk.
 */
export function drawLandmark(
	settings: HazardSettings,
	source: RowSource,
	random: Random,
	afterRecord: boolean,
): DrawnLandmark | undefined {
	const { history, from, to } = source;
	if (afterRecord) {
		const day = dayOf(history, from + random.integer(to - from));
		const isCut = to < history.tokens.length && dayOf(history, to) === day;
		return isCut ? undefined : landmarkAt(history, day, settings);
	}
	for (const before of [settings.lookBackDays, 0]) {
		const stretches = freeDays(source, before);
		let left = random.integer(daysOf(stretches) || 1);
		for (const { start, count } of stretches) {
			if (left < count) return landmarkAt(history, start + left, settings);
			left -= count;
		}
	}
	return undefined;
}

/** The most that a landmark weighs: few records of a long time must not decide a step. */
const mostWeight = 8;

/**
 * What each of a row's landmarks weighs for the hazards of codes: the time that it stands for. Rows have as many
 * landmarks as events, so without weights people and times with many records would decide the level.
 */
export function landmarkWeight(
	settings: HazardSettings,
	source: RowSource,
	landmarks: number,
): number {
	const days = [settings.lookBackDays, 0].map((before) => daysOf(freeDays(source, before)));
	const own = (days.find((count) => count > 0) ?? 0) / landmarks;
	return Math.min(mostWeight, own / settings.daysPerLandmark);
}

const daysOf = (stretches: readonly { readonly count: number }[]) =>
	stretches.reduce((sum, { count }) => sum + count, 0);

/** The days of a row from which landmarks are drawn, so many days after observation began. */
function freeDays({ history, from, to }: RowSource, before: number) {
	const first = from > history.birthEvents ? dayOf(history, from) : Number.NEGATIVE_INFINITY;
	const next = to < history.tokens.length ? dayOf(history, to) : Number.POSITIVE_INFINITY;
	return indexPeriods(history, Math.ceil(before)).flatMap(({ start, end }) => {
		const begin = Math.max(start, first);
		const count = Math.min(end, next - 1) - begin + 1;
		return count > 0 ? [{ start: begin, count }] : [];
	});
}

export interface DrawnRecord {
	readonly time: number;
	/** Events of the row up to this record, itself included. */
	readonly known: number;
	/** Events of the whole history up to this record. */
	readonly count: number;
	/** Records of the same day so far, itself included. */
	readonly sameDay: number;
	/** Whether no further record has the same day. */
	readonly isLast: boolean;
}

/** A record of a row. */
export function drawRecord({ history, from, to }: RowSource, random: Random): DrawnRecord {
	const { times, tokens, birthEvents } = history;
	const at = from + random.integer(to - from);
	const day = dayOf(history, at);
	let first = at;
	while (first > birthEvents && dayOf(history, first - 1) === day) first--;
	return {
		...{ time: times[at] as number, known: birthEvents + at - from + 1 },
		count: at + 1,
		sameDay: at - first + 1,
		isLast: at + 1 === tokens.length || dayOf(history, at + 1) !== day,
	};
}
