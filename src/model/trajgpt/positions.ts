import {
	add,
	cast,
	concat,
	constant,
	cumulativeSum,
	expand,
	type FloatType,
	filled,
	minimum,
	sum,
	type Tensor,
} from "../../engine/tensor/index.js";
import type { Reading } from "./attention.js";

interface SlotStream {
	readonly batch: number;
	readonly slots: number;
	readonly mask: Tensor | undefined; // [batch, slots]
	/** How many slots came before; none if left out. */
	readonly seen: Tensor | undefined; // [batch, 1]
	readonly queries: { readonly tokens: Tensor; readonly read: Reading } | undefined;
	readonly dtype: FloatType;
}

/**
 * The position of each slot in its history, from 0; a query has that of a slot at the state
 * it reads. Padding is not counted.
 */
export function positionsOf({ batch, slots, mask, seen, queries, dtype }: SlotStream): {
	readonly positions: Tensor; // [batch, slots + queries], as floats
	/** How many slots have come after these. */
	readonly seen: Tensor; // [batch, 1]
} {
	const from = seen ?? filled(0, [batch, 1], dtype);
	const ends = mask ? sum(mask, 1, true) : filled(slots, [batch, 1], dtype); // [batch, 1]
	const order = constant([...Array(slots).keys()], [1, slots], dtype);
	const ofSlots = mask
		? cumulativeSum(mask, 1, { exclusive: true })
		: expand(order, [batch, slots]);
	const streams = slots > 0 ? [ofSlots] : [];
	if (queries) {
		const { tokens, read } = queries;
		if (read === "before") streams.push(ofSlots);
		else if (read === "after") streams.push(expand(ends, tokens.shape));
		else streams.push(minimum(cast(read.positions, dtype), ends)); // past a row's end is its end
	}
	return { positions: add(concat(streams, 1), from), seen: add(from, ends) };
}
