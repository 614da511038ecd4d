import { yearDays } from "../../../base/time.js";
import {
	add,
	concat,
	matmul,
	mul,
	reshape,
	sin,
	softmax,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { joinHeads, splitHeads } from "../../nn/attention.js";
import { linear, linearWeights } from "../../nn/linear.js";
import {
	filledWith,
	nested,
	normal,
	uniform,
	type WeightSpec,
	type WeightSpecs,
	type Weights,
	within,
} from "../../nn/weights.js";

/** Radians a year of the slowest wave and of the fastest at the start: periods of 50 years and of 30 days. */
const [slowest, fastest] = [(2 * Math.PI) / 50, (2 * Math.PI * yearDays) / 30];

const rates = (count: number): WeightSpec => ({
	shape: [count],
	draw: (random) => slowest * (fastest / slowest) ** random.uniform(),
});

export const timeVectorWeights = (width: number): WeightSpecs => ({
	// Decades are not to outweigh the waves.
	...nested("linear", { rate: normal([1], 0.1), shift: filledWith(0, [1]) }),
	...nested("waves", { rate: rates(width - 1), shift: uniform([width - 1], Math.PI) }),
});

/** φ(t) = [ω₀ t + α₀, sin(ω₁ t + α₁), sin(ω₂ t + α₂), …] of times in years, [rows, times, width]. */
export function timeVectors(p: Weights, years: Tensor): Tensor {
	const t = reshape(years, [...years.shape, 1]);
	const turned = (q: Weights) => add(mul(t, q("rate")), q("shift"));
	return concat([turned(within(p, "linear")), sin(turned(within(p, "waves")))], -1);
}

/** What is looked at, and where it stands in time. */
export interface Observations {
	readonly times: Tensor; // φ, [rows, observations, time]
	readonly values: Tensor; // [rows, observations, width]
	/** Added to the scores, [rows, 1, 1, observations]. */
	readonly mask?: Tensor;
}

export interface TimeAttentionSizes {
	readonly heads: number;
	/** Of φ. */
	readonly time: number;
	/** Of the values, and of what comes out. */
	readonly width: number;
	readonly outside: number;
}

export const timeAttentionWeights = ({
	heads,
	time,
	width,
	outside,
}: TimeAttentionSizes): WeightSpecs => ({
	...nested("query", linearWeights(time, time)),
	...nested("key", linearWeights(time, time)),
	...nested("out", linearWeights(heads * width, outside)),
});

/**
 * Values as they are at other times: each head weighs observations by their times alone, and all
 * heads read the same values, [rows, queries, outside].
 */
export function timeAttention(
	p: Weights,
	queries: Tensor, // φ, [rows, queries, time]
	{ times, values, mask }: Observations,
	heads: number,
): Tensor {
	const [rows, observations, width] = values.shape as [number, number, number];
	const q = splitHeads(linear(within(p, "query"), queries), heads);
	const k = splitHeads(linear(within(p, "key"), times), heads);
	const scaled = mul(q, 1 / Math.sqrt(q.shape.at(-1) as number));
	const scores = matmul(scaled, k, { transposeB: true }); // [rows, heads, queries, observations]
	const seen = matmul(
		softmax(mask ? add(scores, mask) : scores),
		reshape(values, [rows, 1, observations, width]),
	);
	return linear(within(p, "out"), joinHeads(seen));
}
