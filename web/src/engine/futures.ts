import type { Calls } from "../../../src/api/calls.js";
import { yearDays } from "../../../src/base/time.js";
import { deathRecord } from "../../../src/cohort/reading/history-rules.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Future } from "../../../src/infer/futures.js";
import type { PatientOnDate } from "./risks.js";

/** Futures that are drawn. */
export const futureCount = 50;

/** What futures are drawn with. */
export interface FutureSource {
	readonly calls: Pick<Calls, "drawFutures">;
	/** The farthest day after a date that the model has learned. */
	readonly longest: number;
	/** Whether the records of the training data may repeat on a day. */
	readonly repeats: boolean;
	readonly vocabulary: Pick<Vocabulary, "find">;
}

export interface DrawnFutures {
	readonly futures: readonly Future[];
}

/** Sampled futures after a date. The same history and date give the same futures. */
export async function futuresAt(
	{ calls, longest, repeats, vocabulary }: FutureSource,
	{ history, date }: Pick<PatientOnDate, "history" | "date">,
): Promise<DrawnFutures> {
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	const [futures = []] = await calls.drawFutures([history], [date], {
		...{ days: longest, samples: futureCount, seed: 0, repeats },
		leftOut: death === undefined ? [] : [death],
	});
	return { futures };
}

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
