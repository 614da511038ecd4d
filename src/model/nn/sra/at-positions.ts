import {
	add,
	cast,
	cumulativeSum,
	type Dim,
	exp,
	less,
	matmul,
	mul,
	placesAlong,
	reshape,
	sum,
	type Tensor,
	where,
} from "../../../engine/tensor/index.js";

export interface QueriesAtPositions {
	readonly queries: Tensor; // [batch, heads, queries, key]
	/** How many slots come before each query, from none to all. */
	readonly positions: Tensor; // [batch, queries], int32
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
export function readAtPositions(x: QueriesAtPositions): Tensor {
	const [batch, heads, slots] = x.logDecay.shape as [Dim, number, Dim];
	const count = x.positions.shape[1] as Dim;
	const places = reshape(cast(x.positions, "float32"), [batch, 1, count, 1]);
	const earlier = less(placesAlong(x.logDecay, 2), places); // [batch, 1, queries, slots]
	// What a slot left fades by the steps after it that come before the query.
	const steps = where(earlier, reshape(x.logDecay, [batch, heads, 1, slots]), 0);
	const fading = exp(cumulativeSum(steps, -1, { exclusive: true, reverse: true }));
	const scores = matmul(x.queries, x.k, { transposeB: true });
	const inside = matmul(mul(scores, where(earlier, fading, 0)), x.v);
	if (!x.initialState) return inside;
	const carried = mul(x.queries, exp(sum(steps, -1, true)));
	return add(inside, matmul(carried, x.initialState));
}
