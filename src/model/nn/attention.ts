import { constant, sub, type Tensor } from "../../engine/tensor/index.js";
import { type LinearOptions, linear, linearWeights } from "./layers.js";
import { nested, type WeightSpecs, type Weights } from "./weights.js";

/** What a score loses where nothing may be seen; a row that sees nothing at all looks everywhere alike. */
const hidden = -1e9;

/** [1, 1, places, places]: no place sees a later one. */
export const causalMask = (places: number, dtype: Tensor["dtype"] = "float32"): Tensor =>
	constant(
		Array.from({ length: places * places }, (_, at) =>
			at % places > Math.floor(at / places) ? hidden : 0,
		),
		[1, 1, places, places],
		dtype,
	);

/** [rows, 1, 1, places]: hides padding from every query. */
export function paddingMask(mask: Tensor): Tensor {
	const [rows, places] = mask.shape as [number, number];
	return sub(1, mask).mul(hidden).reshape([rows, 1, 1, places]);
}

/** [rows, places, width] as [rows, heads, places, width / heads]. */
export function splitHeads(x: Tensor, heads: number): Tensor {
	const [rows, places] = x.shape as [number, number];
	if (places === 1) return x.reshape([rows, heads, 1, -1]); // the same order
	return x.reshape([rows, places, heads, -1]).transpose([0, 2, 1, 3]);
}

/** The reverse of `splitHeads`. */
export function joinHeads(x: Tensor): Tensor {
	const [rows, , places] = x.shape as [number, number, number];
	const inOrder = places === 1 ? x : x.transpose([0, 2, 1, 3]);
	return inOrder.reshape([rows, places, -1]);
}

/** softmax(q k^T / √size + mask) v over the last two axes. */
function dotAttention(q: Tensor, k: Tensor, v: Tensor, mask?: Tensor): Tensor {
	const scaled = q.mul(1 / Math.sqrt(q.shape.at(-1) as number));
	const scores = scaled.matmul(k, { transposeB: true });
	return (mask ? scores.add(mask.cast(scores.dtype)) : scores).softmax().matmul(v);
}

export const attentionWeights = (
	width: number,
	/** Of the way out, where it starts smaller. */
	out: LinearOptions = {},
	/** Of what is looked at. */
	memory: number = width,
): WeightSpecs => ({
	...nested("query", linearWeights(width, width)),
	...nested("key", linearWeights(memory, width)),
	...nested("value", linearWeights(memory, width)),
	...nested("out", linearWeights(width, width, out)),
});

export interface AttentionOptions {
	readonly heads: number;
	/** Added to the scores: [rows, 1, queries, places], or what broadcasts to it. */
	readonly mask?: Tensor;
	/** What is looked at; the queries' own places if left out. */
	readonly memory?: Tensor;
}

/** Softmax attention with several heads, [rows, queries, width]. */
export function attention(
	p: Weights,
	name: string,
	x: Tensor,
	{ heads, mask, memory = x }: AttentionOptions,
): Tensor {
	const part = (kind: string, from: Tensor) =>
		splitHeads(linear(p, `${name}.${kind}`, from), heads);
	const seen = dotAttention(part("query", x), part("key", memory), part("value", memory), mask);
	return linear(p, `${name}.out`, joinHeads(seen));
}
