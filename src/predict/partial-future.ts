import { type Random, random } from "../base/random.js";
import type { Events } from "../model/index.js";
import { type GrowingPast, growingPast } from "./growing-past.js";

/** One way in which a history may go on after an index day. */
export interface Future {
	/** The records after the index day, in order. */
	readonly tokens: Int32Array;
	/** Whole days. */
	readonly times: Float64Array;
	/** The day of death; null if the patient lives on. */
	readonly death: number | null;
}

export interface FutureOptions {
	/** Days after the index day. */
	readonly days: number;
	/** Futures per history. */
	readonly samples: number;
	readonly seed: number;
	/** The number of the first future; 0 by default. Others can be drawn elsewhere. */
	readonly firstSample?: number | undefined;
	/** Tokens that are never drawn, such as one for death. */
	readonly leftOut?: readonly number[] | undefined;
	/** Whether a code may be drawn again on the same day; no by default. */
	readonly repeats?: boolean | undefined;
}

/** What a token is to a future on a day: one that cannot be drawn, a code that it does not have yet, or one that it has. */
export const [isExcluded, isNew, isKnown] = [0, 1, 2] as const;

/** A future that is being drawn. */
export interface PartialFuture {
	readonly draw: Random;
	/** All records up to now, those of the history too. */
	readonly tokens: number[];
	readonly times: number[];
	readonly past: GrowingPast;
	/** What each token is on this day: see `isNew`. */
	readonly kinds: Uint8Array; // [vocab]
	/** How many records are of the history. */
	readonly known: number;
	/** The last day. */
	readonly end: number;
	readonly history: number;
	readonly sample: number;
	/** The day up to which everything is known or, while a visit is recorded, the day of the visit. */
	day: number;
	/** Whether a visit is recorded; if not, the next one is waited for. */
	isVisit: boolean;
	/** The days of the wait in which nothing happened, and the bin of the next one. */
	waited: number;
	bin: number;
	/** How many records this visit has, at most. */
	records: number;
	/** The share of them with a new code. */
	newShare: number;
	/** The records so far. */
	ofDay: number[];
	death: number | null;
}

/** The records of a history up to its index day. */
export interface FutureStart extends Events {
	/** The place of the history in the list. */
	readonly history: number;
	/** The index day. */
	readonly day: number;
}

/** A future in which nothing has happened yet. Its random stream depends on its history and its number alone. */
export function beginFuture(
	{ history, day, tokens, times }: FutureStart,
	sample: number,
	allNew: Uint8Array, // [vocab]
	{ days, seed, firstSample = 0 }: FutureOptions,
): PartialFuture {
	const kinds = allNew.slice();
	for (const token of Array.from(tokens)) if (kinds[token] === isNew) kinds[token] = isKnown;
	return {
		draw: random(seed)
			.fork(history)
			.fork(firstSample + sample),
		tokens: Array.from(tokens),
		times: Array.from(times),
		past: growingPast({ tokens, times }),
		kinds,
		known: tokens.length,
		end: day + days,
		history,
		sample,
		day,
		isVisit: false,
		waited: 0,
		bin: 0,
		records: 0,
		newShare: 0,
		ofDay: [],
		death: null,
	};
}

/** The last day whose records are all drawn. */
export const drawnDay = ({ isVisit, day, waited }: PartialFuture): number =>
	isVisit ? day - 1 : day + waited;

/** What is drawn up to a day. */
export function futureUntil({ known, tokens, times, death }: PartialFuture, day: number): Future {
	const count = times.findLastIndex((time) => time <= day) + 1;
	return {
		tokens: Int32Array.from(tokens.slice(known, count)),
		times: Float64Array.from(times.slice(known, count)),
		death: death !== null && death <= day ? death : null,
	};
}
