import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Future } from "../../../src/predict/futures.js";
import type { TimelineFutures } from "../charts/future-marks.js";

/** Sampled futures as the timeline draws them. */
export const timelineFutures = (
	futures: readonly Future[],
	vocabulary: Vocabulary,
): TimelineFutures => ({
	lanes: futures.length,
	records: futures.flatMap(({ tokens, times }, lane) =>
		Array.from(tokens, (token, at) => ({
			...{ lane, token, time: times[at] as number },
			category: vocabulary.tokens[token]?.category ?? "no category",
		})),
	),
	deaths: futures.flatMap(({ death }) => (death === null ? [] : [death])),
});

/** What is drawn of futures, for copies of the figure. */
export const futureCaption = ({ lanes }: TimelineFutures): string =>
	`bars: share of ${lanes} sampled futures with a record; ticks in colour: records of chosen conditions; ticks at the foot: deaths`;
