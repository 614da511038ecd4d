import type { Events, Predictions, Predictor } from "../model/index.js";

/** Where a time lies: before the first event of a history, up to the last, or after it (or in an empty history). */
export type Place = "before" | "inside" | "after";

export interface PlacedPredictions extends Predictions {
	readonly places: readonly (readonly Place[])[]; // [patients][queries]
}

export function placeOf({ times }: Events, time: number): Place {
	if (time < (times[0] ?? Number.NEGATIVE_INFINITY)) return "before";
	return time <= (times[times.length - 1] ?? Number.NEGATIVE_INFINITY) ? "inside" : "after";
}

/**
 * Predicts at any times, in one pass over each history. Each prediction uses the events
 * strictly before its time: from all of them after the last event, and before the first from the
 * start of the history, evolved backwards.
 */
export async function predictAt(
	predictor: Predictor,
	histories: readonly Events[],
	times: readonly ArrayLike<number>[],
): Promise<PlacedPredictions> {
	const predictions = await predictor.queryWithin(
		predictor.start(histories.length),
		histories,
		times,
	);
	const places = histories.map((history, patient) =>
		Array.from(times[patient] ?? [], (time) => placeOf(history, time)),
	);
	return { ...predictions, places };
}
