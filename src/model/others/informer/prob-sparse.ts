import { random } from "../../../base/random.js";
import {
	add,
	constant,
	div,
	filled,
	matmul,
	max,
	maximum,
	mul,
	placeAdd,
	softmax,
	sub,
	sum,
	type Tensor,
	topK,
} from "../../../engine/tensor/index.js";

const hidden = -1e9;

/** c ln n of n, at least one. */
export const fewOf = (n: number, factor: number): number =>
	Math.min(n, Math.max(1, Math.ceil(factor * Math.log(n))));

/**
 * Which keys each query is measured by, [queries, keys] of 1 and 0: a draw that depends on nothing but
 * these numbers. A causal one draws from the keys up to the query's own place.
 */
export function sampledKeys(
	queries: number,
	keys: number,
	factor: number,
	causal: boolean,
): readonly number[] {
	const draw = random(0).fork(`${queries} queries of ${keys} keys`);
	const count = fewOf(keys, factor);
	return Array.from({ length: queries }, (_, query) => {
		const known = Array.from({ length: causal ? query + 1 : keys }, (_, key) => key);
		const chosen = new Set(draw.shuffle(known).slice(0, count));
		return Array.from({ length: keys }, (_, key) => Number(chosen.has(key)));
	}).flat();
}

export interface ProbSparseOptions {
	/** c: how many keys are sampled, and how many queries look for themselves. */
	readonly factor: number;
	/** 1 where a query may see a key, 0 elsewhere; padding sees nothing. */
	readonly visible: Tensor; // [rows, 1, queries, keys]
	/** Whether queries see only the keys up to their own place: they then get sums rather than means. */
	readonly causal?: boolean;
}

/**
 * Softmax attention for the queries whose scores over some sampled keys stand out most,
 * M = max_j s_ij − Σ_j s_ij / L; the others get the mean of the values they may see, or their sum.
 * q, k and v are [rows, heads, places, size].
 */
export function probSparseAttention(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ factor, visible, causal = false }: ProbSparseOptions,
): Tensor {
	const [rows, heads, queries, size] = q.shape as [number, number, number, number];
	const keys = k.shape[2] as number;
	const scores = matmul(mul(q, 1 / Math.sqrt(size)), k, { transposeB: true }); // [rows, heads, queries, keys]
	const count = maximum(sum(visible, -1, true), 1); // [rows, 1, queries, 1]

	const sample = constant(
		sampledKeys(queries, keys, factor, causal),
		[queries, keys],
		scores.dtype,
	);
	const sampled = mul(visible, sample);
	const highest = max(add(scores, mul(sub(1, sampled), hidden)), -1, true);
	const measure = sub(highest, div(sum(mul(scores, sampled), -1, true), count)); // [rows, heads, queries, 1]
	const few = fewOf(queries, factor);
	const { indices } = topK(measure, few, 2);
	const active = placeAdd(filled(1, [rows, heads, few, 1], scores.dtype), indices, 2, queries);

	const looks = softmax(add(scores, mul(sub(1, visible), hidden)));
	const lazy = causal ? visible : div(visible, count);
	return matmul(add(lazy, mul(active, sub(looks, lazy))), v);
}
