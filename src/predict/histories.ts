import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Events } from "../model/index.js";
import type { Scoring } from "../model/train/finetune/classifier.js";

// The page imports this file without the tensors that scores are computed with.

/** A history, and the time of its representation: that of its last event if left out. */
export interface ViewedHistory extends Events {
	readonly at?: number;
}

/** How many events of a history are known on a day: its records and those before. */
export function knownCount({ times }: Events, day: number): number {
	let count = 0;
	while (count < times.length && Math.floor(times[count]) <= Math.floor(day)) count++;
	return count;
}

/** Events of a history, from one to before another. */
export const eventsOf = ({ tokens, times }: Events, from: number, to: number) => ({
	tokens: Array.prototype.slice.call(tokens, from, to) as number[],
	times: Array.prototype.slice.call(times, from, to) as number[],
});

export function knownOn(history: Events, day: number): ViewedHistory {
	const known = eventsOf(history, 0, knownCount(history, day));
	return { ...known, at: Math.max(day, known.times.at(-1) ?? day) };
}

export const withoutEvent = ({ tokens, times }: Events, event: number) => ({
	tokens: Array.from(tokens).filter((_, at) => at !== event),
	times: Array.from(times).filter((_, at) => at !== event),
});

/** Why a task is not about a patient with these known records; undefined if they do not say so. */
export function outsideReason(
	{ task, outside }: Scoring,
	{ tokens, times, at }: ViewedHistory,
): string | undefined {
	if (!outside) return undefined;
	const { what, withinDays = Number.POSITIVE_INFINITY } = outside;
	const wanted = new Set(outside.tokens);
	const end = at ?? times[times.length - 1] ?? 0;
	const isRecorded = Array.prototype.some.call(
		tokens,
		(token: number, i) => wanted.has(token) && end - times[i] <= withinDays,
	);
	if (isRecorded !== (outside.if === "recorded")) return undefined;
	return `outside the definition of ${task}: ${isRecorded ? "has a" : "has no"} record of ${what}`;
}

/** Indices are those of the history before any edit. */
export type Edit =
	| { readonly add: { readonly token: number; readonly time: number } }
	| { readonly remove: number }
	| { readonly move: number; readonly to: number };

/**
 * The history after all edits. What is added or moved stands after events of the same time. Birth
 * stays where it is, and nothing goes before it.
 */
export function edited(history: Events, edits: readonly Edit[]): Events {
	const count = history.times.length;
	const birth = count > 0 && history.tokens[0] < specialCount ? history.times[0] : undefined;
	const kept = new Map(
		Array.from(history.times, (time, i) => [i, { token: history.tokens[i], time }]),
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
