import type { Events } from "../model/index.js";

/** Where a time lies: before the first event of a history, up to the last, or after it (or in an empty history). */
export type Place = "before" | "inside" | "after";

export function placeOf({ times }: Events, time: number): Place {
	if (time < (times[0] ?? Number.NEGATIVE_INFINITY)) return "before";
	return time <= (times[times.length - 1] ?? Number.NEGATIVE_INFINITY) ? "inside" : "after";
}

export const placesOf = (history: Events, times: ArrayLike<number>): Place[] =>
	Array.from(times, (time) => placeOf(history, time));

/** A significant rise of a probability, and what was recorded meanwhile. */
export interface Surge {
	readonly from: number;
	readonly to: number;
	readonly growth: number;
	/** Indices of the history's events. */
	readonly events: readonly number[];
}

/** Robust deviations above which growth stands out. */
const deviations = 3;
/** The part of the trajectory's largest probability that growth must reach. */
const leastPart = 0.1;
/** Surges reported per trajectory: the largest. */
const mostSurges = 5;

/** Whether a record at a time can explain a rise from one time to another. */
type IsWithin = (time: number, from: number, to: number) => boolean;

/** Where a probability is based on the records before its time. */
export const beforeEnd: IsWithin = (time, from, to) => time >= from && time < to;

/** Where a probability is based on the records up to its day, and that day's. */
export const throughEndDay: IsWithin = (time, from, to) =>
	Math.floor(time) > Math.floor(from) && Math.floor(time) <= Math.floor(to);

/** A probability along a history; `isBreak` says where it becomes that of something else, whose difference is not growth. */
export function trajectoryOf(
	history: Events,
	times: Float64Array,
	probability: Float64Array,
	isWithin: IsWithin,
	isBreak: (at: number) => boolean = () => false,
) {
	const growth = probability.map((value, at) =>
		at === 0 || isBreak(at) ? 0 : value - probability[at - 1],
	);
	return {
		times,
		/** Difference to the probability at the time before; 0 at the first. */
		growth,
		places: placesOf(history, times),
		surges: surgesOf(history, times, probability, growth, isWithin),
	};
}

function median(values: readonly number[]): number {
	const sorted = [...values].sort((a, b) => a - b);
	const middle = sorted.length >> 1;
	const high = sorted[middle] ?? 0;
	return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? 0) + high) / 2;
}

/**
 * The rises of a probability that stand out. A step is significant if its growth is above the median
 * growth of the trajectory by more than 3 robust deviations (1.4826 times the median distance to
 * the median: the standard deviation, were growth normal; jumps at events do not move it), and is
 * at least a tenth of the largest probability. Significant steps in a row are one surge, whose growth is
 * their sum. The 5 largest are kept, in order of time.
 */
export function surgesOf(
	{ times: observed }: Events,
	times: ArrayLike<number>,
	probability: ArrayLike<number>,
	growth: ArrayLike<number>,
	isWithin: IsWithin,
): readonly Surge[] {
	const steps = Array.from(growth).slice(1);
	const centre = median(steps);
	const deviation = 1.4826 * median(steps.map((step) => Math.abs(step - centre)));
	const least =
		leastPart * Array.from(probability).reduce((most, value) => Math.max(most, value), 0);
	const surges: { from: number; to: number; growth: number }[] = [];
	let rising = false;
	for (const [i, step] of steps.entries()) {
		const significant = step > 0 && step > centre + deviations * deviation && step >= least;
		const to = times[i + 1];
		const last = surges.at(-1);
		if (significant && rising && last) {
			last.to = to;
			last.growth += step;
		} else if (significant) surges.push({ from: times[i], to, growth: step });
		rising = significant;
	}
	const events = Array.from(observed);
	return surges
		.sort((a, b) => b.growth - a.growth)
		.slice(0, mostSurges)
		.sort((a, b) => a.from - b.from)
		.map(({ from, to, growth }) => ({
			from,
			to,
			growth,
			events: events.flatMap((time, event) => (isWithin(time, from, to) ? [event] : [])),
		}));
}
