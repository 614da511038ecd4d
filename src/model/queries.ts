import { InputError } from "../base/errors.js";
import type { Events, State } from "./predictor.js";

/** What a query's slot holds, and which state it reads. */
export interface Query {
	/** Its position among the patient's queries. */
	readonly index: number;
	readonly token: number;
	readonly time: number;
	readonly gap: number;
	/** How many of the patient's events come before it. */
	readonly position: number;
}

const none: Events = { tokens: [], times: [] };

function mustFollow(last: number, time: number, patient: number, what: string): void {
	if (!Number.isFinite(time) || time < last)
		throw new InputError(
			`times must be finite and not decrease: patient ${patient} goes ${last} → ${time} at ${what}`,
		);
}

/** Refuses events that run backwards in time or are not in the vocabulary. */
export function checkEvents(state: State, events: readonly Events[], vocab: number): void {
	for (const [patient, { tokens, times }] of events.entries()) {
		if (tokens.length !== times.length)
			throw new InputError(
				`patient ${patient} has ${tokens.length} tokens and ${times.length} times; give as many`,
			);
		let last = state.times[patient] as number;
		for (let n = 0; n < tokens.length; n++) {
			const [token, time] = [tokens[n] as number, times[n] as number];
			mustFollow(last, time, patient, `event ${n}`);
			if (!Number.isInteger(token) || token < 0 || token >= vocab)
				throw new InputError(
					`patient ${patient} has token ${token} at event ${n}; expected a whole number from 0 to ${vocab - 1}`,
				);
			last = time;
		}
	}
}

/** A query that follows `position` events of a patient. */
function following(
	state: State,
	patient: number,
	own: Events,
	position: number,
	time: number,
	index: number,
): Query {
	const last =
		position === 0 ? (state.times[patient] as number) : (own.times[position - 1] as number);
	mustFollow(last, time, patient, `query ${index}`);
	const token = position === 0 ? state.tokens[patient] : own.tokens[position - 1];
	const gap = Number.isNaN(last) ? 0 : time - last;
	return { index, token: token as number, time, gap, position };
}

/** Queries after all events. */
export const queriesAfter = (
	state: State,
	events: readonly Events[] | undefined,
	times: readonly ArrayLike<number>[],
): Query[][] =>
	times.map((queryTimes, patient) => {
		const own = events?.[patient] ?? none;
		return Array.from(queryTimes, (time, index) =>
			following(state, patient, own, own.times.length, time, index),
		);
	});

/**
 * Queries among the events, each after those strictly before it. One before a patient's very
 * first event looks back: it holds [SOS] at its own time and reads what the first slot left, which
 * is [SOS] at the first event's time.
 */
export const queriesWithin = (
	state: State,
	events: readonly Events[],
	times: readonly ArrayLike<number>[],
): Query[][] =>
	times.map((queryTimes, patient) => {
		const own = events[patient] as Events;
		const first = own.times[0];
		const started = !Number.isNaN(state.times[patient]);
		return Array.from(queryTimes, (time, index) => {
			if (!started && first !== undefined && Number.isFinite(time) && time < first) {
				const token = state.tokens[patient] as number;
				return { index, token, time, gap: time - first, position: 1 };
			}
			return following(state, patient, own, countBefore(own.times, time), time, index);
		});
	});

/** How many of the times, which do not decrease, are below this one. */
function countBefore(times: ArrayLike<number>, time: number): number {
	let [low, high] = [0, times.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if ((times[middle] as number) < time) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** Checks that there is a list for every patient, and as many queries for each. */
export function checkLists(
	patients: number,
	lists: {
		readonly events?: readonly Events[];
		readonly times?: readonly ArrayLike<number>[];
	},
): void {
	for (const [name, list] of Object.entries(lists))
		if (list.length !== patients)
			throw new InputError(`${name} of ${list.length} patients for a state of ${patients}`);
	if (lists.times?.some((t) => t.length !== lists.times?.[0]?.length))
		throw new InputError("expected the same number of query times for every patient");
}
