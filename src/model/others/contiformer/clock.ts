import {
	add,
	cumulativeSum,
	div,
	log,
	maximum,
	minimum,
	mul,
	relu,
	slice,
	sub,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { Observed } from "../../kinds/observed.js";

/** Longest a place or a query can move the clock on; log(1 + days) is 11 after 164 years. */
const longestTick = 12;

/** Where the places of a row stand in the time that its ODEs, its spline and its integrals run in. */
export interface Clock {
	/** From 0 at the first event to at most 1 at the last. */
	readonly places: Tensor; // [rows, places]
	/** What no query goes beyond. */
	readonly end: Tensor; // [rows, 1]
	/** 1 at events, 0 at padding. */
	readonly mask: Tensor; // [rows, places]
	/** Ticks in a unit. */
	readonly unit: Tensor; // [rows, 1]
}

/** 1 + log(1 + days): no two places stand at one time, and no interval is many times another. */
const tick = (gaps: Tensor): Tensor => minimum(add(1, log(add(1, relu(gaps)))), longestTick);

/** A row's span is its unit, unless it is shorter than a tick for each place of the window. */
export function clockOf({ gaps, mask }: Pick<Observed, "gaps" | "mask">): Clock {
	const ticks = mul(mask, sub(cumulativeSum(mul(mask, tick(gaps)), 1), 1)); // 0 at the first event
	const unit = maximum(slice(ticks, 1, -1), mask.shape[1] as number);
	const places = div(ticks, unit);
	return { places, end: add(slice(places, 1, -1), div(longestTick, unit)), mask, unit };
}

/** From the last place to queries that come so many days after it, [rows, queries]. */
export const clockAfter = ({ unit }: Clock, gaps: Tensor): Tensor => div(tick(gaps), unit);
