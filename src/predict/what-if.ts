import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events, Predictions, Predictor } from "../model/index.js";
import { type PlacedPredictions, predictAt } from "./predict-at.js";

/** Indices are those of the history before any edit. */
export type Edit =
	| { readonly add: { readonly token: number; readonly time: number } }
	| { readonly remove: number }
	| { readonly move: number; readonly to: number };

/** Predictions for one patient, from the original and the edited history. */
export interface WhatIf {
	readonly history: Events;
	readonly before: PlacedPredictions;
	readonly after: PlacedPredictions;
}

/**
 * The history after all edits. What is added or moved stands after events of the same time. Birth
 * stays where it is, and nothing goes before it.
 */
export function edited(history: Events, edits: readonly Edit[]): Events {
	const count = history.times.length;
	const birth =
		count > 0 && (history.tokens[0] as number) < specialCount
			? (history.times[0] as number)
			: undefined;
	const kept = new Map(
		Array.from(history.times, (time, i) => [i, { token: history.tokens[i] as number, time }]),
	);
	const placed: { token: number; time: number }[] = [];
	const take = (index: number) => {
		if (index === 0 && birth !== undefined)
			throw new InputError("event 0 is the birth, which can be neither removed nor moved");
		const event = kept.get(index);
		if (!event)
			throw new InputError(
				index in history.times
					? `event ${index} is edited twice; give one edit per event`
					: `there is no event ${index}; the history has ${count}, counted from 0`,
			);
		kept.delete(index);
		return event;
	};
	const put = (token: number, time: number) => {
		if (!Number.isFinite(time) || time < (birth ?? Number.NEGATIVE_INFINITY))
			throw new InputError(
				`an event cannot be put at ${time}; expected a time${birth === undefined ? "" : ` from birth (${birth}) on`}`,
			);
		placed.push({ token, time });
	};
	for (const edit of edits) {
		if ("add" in edit) put(edit.add.token, edit.add.time);
		else if ("remove" in edit) take(edit.remove);
		else put(take(edit.move).token, edit.to);
	}
	const events = [...kept.values(), ...placed].sort((a, b) => a.time - b.time);
	return { tokens: events.map(({ token }) => token), times: events.map(({ time }) => time) };
}

/** Predicts from a history and from the history after some edits. */
export async function whatIf(
	predictor: Predictor,
	history: Events,
	edits: readonly Edit[],
	times: ArrayLike<number>,
): Promise<WhatIf> {
	const changed = edited(history, edits);
	const both = await predictAt(predictor, [history, changed], [times, times]);
	const [before, after] = [ofOne(both, 0), ofOne(both, 1)];
	return { history: changed, before, after };
}

function ofOne({ places, ...predictions }: PlacedPredictions, patient: number): PlacedPredictions {
	const size = predictions.queries * predictions.vocab;
	const own: Predictions = {
		...predictions,
		patients: 1,
		logProbabilities: predictions.logProbabilities.slice(patient * size, (patient + 1) * size),
	};
	return { ...own, places: [places[patient] ?? []] };
}
