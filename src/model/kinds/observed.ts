import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import type { Data } from "../../engine/runtime/index.js";
import { type DType, input, type Tensor } from "../../engine/tensor/index.js";
import type { EventBatch } from "../model.js";
import { nested } from "../nn/weights.js";
import type { Events } from "../predictor.js";

/**
 * What a model has seen: places in order of time, each with a token and the days at which it came,
 * counted from the row's first place. A history begins with [SOS] at the time of its first event.
 */
export interface Observed {
	readonly tokens: Tensor; // [rows, places], int32
	readonly days: Tensor; // [rows, places]
	/** Days since the place before; 0 at the first. */
	readonly gaps: Tensor; // [rows, places]
	/** 1 at events, 0 at padding. */
	readonly mask: Tensor; // [rows, places]
}

export interface Queries {
	/** Counted from the row's first place, as the days of the places. */
	readonly days: Tensor; // [rows, queries]
	/** Days since the last place seen. */
	readonly gaps: Tensor; // [rows, queries]
}

export function observedInputs(
	prefix: string,
	rows: number,
	places: number,
	dtype: DType,
): Observed {
	const shape = [rows, places];
	return {
		tokens: input(`${prefix}.tokens`, shape, "int32"),
		days: input(`${prefix}.days`, shape, dtype),
		gaps: input(`${prefix}.gaps`, shape, dtype),
		mask: input(`${prefix}.mask`, shape, dtype),
	};
}

export function queryInputs(prefix: string, rows: number, count: number, dtype: DType): Queries {
	const shape = [rows, count];
	return {
		days: input(`${prefix}.queryDays`, shape, dtype),
		gaps: input(`${prefix}.queryGaps`, shape, dtype),
	};
}

const isBirth = (token: number | undefined) => token !== undefined && token < specialCount;

/** The values of an `Observed`, row by row; `padding` is where padding goes. */
export function observedRows(
	prefix: string,
	rows: number,
	places: number,
	padding: "before" | "after",
) {
	const tokens = new Int32Array(rows * places).fill(specialTokens.pad);
	const days = new Float32Array(rows * places);
	const gaps = new Float32Array(rows * places);
	const mask = new Float32Array(rows * places);
	return {
		feeds: nested<Data>(prefix, { tokens, days, gaps, mask }),
		/**
		 * Fills a row with the last of these events: from its first place on, or up to its last. Gives
		 * back what to count days from.
		 */
		fillRow(row: number, events: Events, firstTime: number) {
			const all = events.tokens.length + 1; // with [SOS]
			const count = Math.min(places, all);
			const start = padding === "before" ? places - count : 0;
			const timeOf = (place: number) => (place === 0 ? firstTime : events.times[place - 1]);
			// A birth stays, so that age and sex are known however long the history is.
			const keepsBirth = count < all && isBirth(events.tokens[0]);
			const placeOf = (i: number) => (i === 0 && keepsBirth ? 1 : all - count + i);
			const origin = timeOf(placeOf(0));
			for (let i = 0; i < count; i++) {
				const place = placeOf(i);
				const at = row * places + start + i;
				tokens[at] = place === 0 ? specialTokens.sos : events.tokens[place - 1];
				days[at] = timeOf(place) - origin;
				gaps[at] = i === 0 ? 0 : timeOf(place) - timeOf(placeOf(i - 1));
				mask[at] = 1;
			}
			const last = timeOf(all - 1);
			// Time goes on after a row's end, and stands still before its beginning.
			for (let i = start + count; i < places; i++) days[row * places + i] = last - origin;
			return {
				/** Time of the row's first place and of its last. */
				origin,
				last,
				/** Position of the row's first event, and how many events it has. */
				start,
				count,
			};
		},
	};
}

export function queryRows(prefix: string, rows: number, queries: number) {
	const days = new Float32Array(rows * queries);
	const gaps = new Float32Array(rows * queries);
	return {
		feeds: nested<Data>(prefix, { queryDays: days, queryGaps: gaps }),
		fillQuery(
			row: number,
			query: number,
			time: number,
			{ origin, last }: { readonly origin: number; readonly last: number },
		) {
			const at = row * queries + query;
			days[at] = time - origin;
			gaps[at] = time - last;
		},
	};
}

export function eventsOf({ tokens, times, length, lengths }: EventBatch, row: number): Events {
	const from = row * length;
	const to = from + lengths[row];
	return { tokens: tokens.subarray(from, to), times: times.subarray(from, to) };
}

export const firstOf = ({ tokens, times }: Events, count: number): Events => ({
	tokens: Array.from(tokens).slice(0, count),
	times: Array.from(times).slice(0, count),
});

/** All events but the last, which is the target and never an input. */
export const withoutLast = (events: Events): Events => firstOf(events, events.tokens.length - 1);
