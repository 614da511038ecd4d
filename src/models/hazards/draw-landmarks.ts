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

/** The most that a landmark weighs, which limits the variance of a step. */
const mostWeight = 8;
/** Time without records, in days, beyond which a record weighs no more. */
const mostGap = 365;

/** What a landmark weighs. */
export interface LandmarkWeights {
	/** For the hazards of codes: the time that it stands for, so that people with many records do not set the level. */
	readonly codes: number;
	/** For the next visit: every day counts alike, and so does every visit. */
	readonly visit: number;
}

/**
 * The weight of a landmark. Every row has the same number of landmarks, so the days of a short row are drawn more often,
 * and the last row before a death is short. Without weights, deaths would count too often. The limit on weights, and
 * days before the look-back, leave some of this bias.
 */
export function landmarkWeights(
	settings: HazardSettings,
	source: RowSource,
	landmarks: number,
	{ day }: Pick<DrawnLandmark, "day">,
	afterRecord: boolean,
): LandmarkWeights {
	const { daysPerLandmark, slotsPerLandmark } = settings;
	if (!afterRecord) {
		const days = [settings.lookBackDays, 0].map((before) => daysOf(freeDays(source, before)));
		const own = (days.find((count) => count > 0) ?? 0) / landmarks;
		const weight = Math.min(mostWeight, own / daysPerLandmark);
		return { codes: weight, visit: weight };
	}
	const { history, from, to } = source;
	let after = from;
	while (after < to && dayOf(history, after) <= day) after++;
	let first = after;
	while (first > history.birthEvents && dayOf(history, first - 1) === day) first--;
	const before = first > history.birthEvents ? day - dayOf(history, first - 1) : mostGap;
	const visits = (to - from) / (after - first) / landmarks;
	return {
		codes: Math.min(mostWeight, (visits * Math.min(mostGap, before)) / daysPerLandmark),
		visit: visits / slotsPerLandmark,
	};
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
