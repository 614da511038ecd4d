import {
	add,
	concat,
	constant,
	filled,
	gather,
	matmul,
	mul,
	pad,
	reshape,
	type Tensor,
} from "../../graph/index.js";
import { column, decayFromStart, decayWeights } from "./segments.js";

export interface PlacedQueries {
	readonly queries: Tensor; // [batch, heads, queries, key]
	/** How many slots come before each query, from none to all. */
	readonly places: Tensor; // [batch, queries], int32
	readonly k: Tensor; // [batch, heads, slots, key]
	readonly v: Tensor; // [batch, heads, slots, value]
	readonly logDecay: Tensor; // [batch, heads, slots]
	readonly initialState: Tensor | undefined; // [batch, heads, key, value]; zeros if left out
}

/**
 * What queries between the slots read, many at one place or none: q S_p, where S_p is the state
 * after the first p slots. In the parallel form: no state between slots is ever made.
 * [batch, heads, queries, value]
 */
export function readAtPlaces(x: PlacedQueries): Tensor {
	const [batch, heads, slots] = x.logDecay.shape as [number, number, number];
	const count = x.places.shape[1] as number;
	// Weights have a row a place. All tables in one, a query's row is found by its number.
	const starts = Array.from({ length: batch * heads }, (_, i) => i * (slots + 1));
	const rows = add(
		reshape(x.places, [batch, 1, count]),
		constant(starts, [batch, heads, 1], "int32"),
	);
	const rowOf = (table: Tensor, width: number) =>
		gather(reshape(table, [batch * heads * (slots + 1), width]), rows);

	const weights = rowOf(pad(decayWeights(x.logDecay, 0), 2, 1, 0), slots); // [batch, heads, queries, slots]
	const scores = matmul(x.queries, x.k, { transposeB: true });
	const inside = matmul(mul(scores, weights), x.v);
	if (!x.initialState) return inside;
	const one = filled(1, [batch, heads, 1], x.logDecay.dtype);
	const carried = rowOf(column(concat([one, decayFromStart(x.logDecay, 0)], 2)), 1); // [batch, heads, queries, 1]
	return add(inside, matmul(mul(x.queries, carried), x.initialState));
}
