import { conditions } from "./tables.js";

/**
 * After a record of a condition another one follows with probability p, after a gap with survival function S(g).
 * Without a further record by day g − 1, the hazard on day g is
 *   ln (1 − p + p S(g−1)) − ln (1 − p + p S(g)),
 * where p is the probability that an established chronic condition has not healed; after its first record, that
 * times the probability that it was not a coding error; for an acute condition, the probability of another visit
 * of the episode.
 */
interface Gap {
	/** S(0) = 1, S(1), … */
	readonly survival: Float64Array;
	/** The hazard per day beyond the end of the table. */
	readonly tailHazard: number;
}

/** The share of follow-ups that are late, and how much longer they take. */
const late = { share: 0.12, factor: 3 };

/** Most gaps are close to the interval (Weibull); some are late, with a constant hazard. */
function followUp(everyDays: number): Gap {
	const shape = 3;
	const scale = everyDays / 0.893; // Γ(1 + 1/3)
	const tailHazard = 1 / (late.factor * everyDays);
	const survival = Float64Array.from(
		{ length: Math.ceil(3 * scale) + 1 },
		(_, gap) =>
			(1 - late.share) * Math.exp(-((gap / scale) ** shape)) +
			late.share * Math.exp(-gap * tailHazard),
	);
	return { survival, tailHazard };
}

/** Gaps of days to weeks, none longer than five times the mean. */
function burst(days: number): Gap {
	const survival = Float64Array.from({ length: Math.ceil(5 * days) + 1 }, (_, gap) =>
		Math.exp(-((gap / days) ** 1.3)),
	);
	survival[survival.length - 1] = 0;
	return { survival, tailHazard: 0 };
}

const gaps: Gap[] = [];

/** Made on first use: making all of them would slow the start of every command. */
function gapOf(at: number): Gap {
	const condition = conditions[at];
	gaps[at] ??=
		condition.course === "chronic" ? followUp(condition.everyDays) : burst(condition.again.days);
	return gaps[at];
}

/** The p of an acute condition, and of a chronic one that is not a coding error. */
export const recurrenceChance = Float64Array.from(conditions, (condition) =>
	condition.course === "chronic" ? (condition.stays ?? 1) : condition.again.probability,
);

export function survival(at: number, gap: number): number {
	const { survival, tailHazard } = gapOf(at);
	const end = survival.length - 1;
	if (gap <= end) return survival[gap];
	return survival[end] * Math.exp(-(gap - end) * tailHazard);
}

export function recurrenceHazard(at: number, gap: number, p: number): number {
	if (gap < 1) return 0;
	const earlier = 1 - p + p * survival(at, gap - 1);
	const later = 1 - p + p * survival(at, gap);
	return later < earlier ? Math.log(earlier / later) : 0;
}

/** The hazard summed up to `elapsed` days, with fraction, after the start of the day of the last record; at least 1. */
export function summedRecurrenceHazard(at: number, elapsed: number, p: number): number {
	const gap = Math.floor(elapsed);
	const before = 1 - p + p * survival(at, gap - 1);
	return (elapsed - gap) * recurrenceHazard(at, gap, p) - Math.log(before);
}

/** Whether an episode of an acute condition may have further records. */
export function inEpisode(at: number, gap: number): boolean {
	return gap < gapOf(at).survival.length;
}

/**
 * The time at which the hazard, summed from day `elapsed + 1` after the last record, reaches `exponential`: days,
 * with fraction, after the start of the day of the last record. Infinity for never.
 */
export function drawRecurrence(
	at: number,
	elapsed: number,
	p: number,
	exponential: number,
): number {
	const start = 1 - p + p * survival(at, elapsed);
	const wanted = (start * Math.exp(-exponential) - (1 - p)) / p;
	if (!(wanted > 0)) return Number.POSITIVE_INFINITY;
	const gap = firstAtOrBelow(gapOf(at), elapsed, wanted);
	if (gap === Number.POSITIVE_INFINITY) return gap;
	const used = Math.log(start / (1 - p + p * survival(at, gap - 1)));
	const part = (exponential - used) / recurrenceHazard(at, gap, p);
	return gap + Math.min(Math.max(part, 0), 1 - 2 ** -20);
}

/** The first gap after `elapsed` with S(gap) ≤ wanted. */
function firstAtOrBelow({ survival, tailHazard }: Gap, elapsed: number, wanted: number): number {
	const end = survival.length - 1;
	const atEnd = survival[end];
	if (elapsed >= end || atEnd > wanted) {
		if (tailHazard === 0) return Number.POSITIVE_INFINITY;
		return Math.max(elapsed + 1, end + Math.ceil(Math.log(atEnd / wanted) / tailHazard));
	}
	let low = elapsed;
	let high = end;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if (survival[middle] <= wanted) high = middle;
		else low = middle;
	}
	return high;
}
