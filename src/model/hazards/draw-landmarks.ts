import type { Random } from "../../base/random.js";
import { indexPeriods, timeAtRisk, whyNotAtRisk } from "../../data/cohort/at-risk.js";
import type { RowSource } from "../../data/cohort/batches.js";
import type { History } from "../../data/cohort/history.js";
import type { AtRisk } from "./landmarks.js";
import type { HazardSettings } from "./settings.js";

export interface DrawnLandmark extends AtRisk {
	/** The index day. */
	readonly day: number;
}

const dayOf = ({ times }: History, event: number): number => Math.floor(times[event]);

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

export interface WeightedLandmark extends DrawnLandmark {
	/**
	 * For the hazards of codes: the time that it stands for, as a day or as the visit after a gap, so that people with many
	 * records do not set the level.
	 */
	readonly codeWeight: number;
	/** For the next visit: every day counts alike, and so does every visit. */
	readonly visitWeight: number;
}

/** Time without records, in days, beyond which the visit after it weighs no more. */
const mostGap = 365;

/**
 * One of a row's landmarks: a day on which the row's events are the latest known, drawn evenly from its observed time, or
 * the day of one of its records. None where the draw has no time at risk.
 *
 * A row has as many landmarks as it has room, not time, so the days of a short row are drawn more often, and the last row
 * before a death is short. Weights undo this: they depend on the future only as far as the probability of the draw does.
 */
export function drawLandmark(
	settings: HazardSettings,
	source: RowSource,
	landmarks: number,
	random: Random,
): WeightedLandmark | undefined {
	return random.uniform() < 0.5
		? drawVisit(settings, source, landmarks, random)
		: drawDay(settings, source, landmarks, random);
}

/** A landmark that is drawn evenly from the observed time of a row. */
export function drawDay(
	settings: HazardSettings,
	source: RowSource,
	landmarks: number,
	random: Random,
): WeightedLandmark | undefined {
	const stretches = freeDays(source);
	const days = stretches.reduce((sum, { count }) => sum + count, 0);
	const weight = days / landmarks / settings.daysPerLandmark;
	let left = random.integer(days || 1);
	for (const { start, count } of stretches) {
		if (left < count) {
			const landmark = landmarkAt(source.history, start + left, settings);
			return landmark && { ...landmark, codeWeight: weight, visitWeight: weight };
		}
		left -= count;
	}
	return undefined;
}

/** A landmark on the day of a record. */
export function drawVisit(
	settings: HazardSettings,
	{ history, from, to }: RowSource,
	landmarks: number,
	random: Random,
): WeightedLandmark | undefined {
	const at = from + random.integer(to - from);
	const day = dayOf(history, at);
	let [first, after] = [at, at];
	while (first > history.birthEvents && dayOf(history, first - 1) === day) first--;
	while (after < history.tokens.length && dayOf(history, after) === day) after++;
	const isCut = after > to;
	const landmark = isCut ? undefined : landmarkAt(history, day, settings);
	if (!landmark) return undefined;
	const gap = first > history.birthEvents ? day - dayOf(history, first - 1) : mostGap;
	const visits = (to - from) / (after - Math.max(first, from)) / landmarks;
	return {
		...landmark,
		codeWeight: (visits * Math.min(mostGap, gap)) / settings.daysPerLandmark,
		visitWeight: visits / settings.slotsPerLandmark,
	};
}

/** The days of a row from which landmarks are drawn. */
function freeDays({ history, from, to }: RowSource) {
	const first = from > history.birthEvents ? dayOf(history, from) : Number.NEGATIVE_INFINITY;
	const next = to < history.tokens.length ? dayOf(history, to) : Number.POSITIVE_INFINITY;
	return indexPeriods(history, 0).flatMap(({ start, end }) => {
		const begin = Math.max(start, first);
		const count = Math.min(end, next - 1) - begin + 1;
		return count > 0 ? [{ start: begin, count }] : [];
	});
}
