import { yearDays } from "../../../src/base/time.js";
import { deathRecord } from "../../../src/data/cohort/reading/rules.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Future } from "../../../src/predict/futures.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { PatientOnDate } from "./risks.js";

/** Futures that are drawn. */
export const futureCount = 50;

/** What futures are drawn with. */
export interface FutureSource {
	readonly calls: Pick<Calls, "beginFutures" | "moreFutures">;
	/** The farthest day after a date that the model has learned. */
	readonly longest: number;
	/** Whether the records of the training data may repeat on a day. */
	readonly repeats: boolean;
	readonly vocabulary: Pick<Vocabulary, "find">;
}

export interface DrawnFutures {
	/** Their records up to the day `until`. */
	readonly futures: readonly Future[];
	readonly until: number;
	readonly isComplete: boolean;
}

/** Other calls of the model wait no longer than this, and one step. */
const sliceMilliseconds = 50;
/** Slices per part that is shown: drawing the page takes time as well. */
const slicesPerPart = 8;

/**
 * Sampled futures after a date: `onPart` gets them while they grow. The same history and date give the same futures.
 * Once `signal` is aborted, nothing more is drawn.
 */
export async function futuresAt(
	{ calls, longest, repeats, vocabulary }: FutureSource,
	{ history, date }: Pick<PatientOnDate, "history" | "date">,
	{
		onPart,
		signal,
	}: { readonly onPart: (drawn: DrawnFutures) => void; readonly signal: AbortSignal },
): Promise<void> {
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	const id = await calls.beginFutures([history], [date], {
		...{ days: longest, samples: futureCount, seed: 0, repeats },
		leftOut: death === undefined ? [] : [death],
	});
	for (let slice = 1; !signal.aborted; slice++) {
		const { futures, until, isComplete } = await calls.moreFutures(id, sliceMilliseconds);
		if (signal.aborted) return;
		const [[own = []], [last = date]] = [futures, until];
		if (isComplete || slice % slicesPerPart === 0)
			onPart({ futures: own.map((one) => upTo(one, last)), until: last, isComplete });
		if (isComplete) return;
	}
}

/** Some futures are ahead of others: beyond the day that all have reached, their records would be too few. */
const upTo = ({ tokens, times, death }: Future, day: number): Future => ({
	tokens: tokens.filter((_, at) => (times[at] as number) <= day),
	times: times.filter((time) => time <= day),
	death: death !== null && death <= day ? death : null,
});

/** Whether futures are drawn for so many years after a date, or as far as they go. */
export const reachesYears = (
	{ until, isComplete }: Pick<DrawnFutures, "until" | "isComplete">,
	date: number,
	years: number,
): boolean => isComplete || until >= Math.floor(date) + years * yearDays;

/** The share of futures in which a code is recorded within so many years of a date; without a code, of those that end in death. */
export function shareWithin(
	futures: readonly Future[],
	date: number,
	years: number,
	token?: number,
): number {
	const last = Math.floor(date) + years * yearDays;
	const reaches = ({ tokens, times, death }: Future) =>
		token === undefined
			? death !== null && death <= last
			: tokens.some((own, at) => own === token && (times[at] as number) <= last);
	return futures.filter(reaches).length / Math.max(1, futures.length);
}
