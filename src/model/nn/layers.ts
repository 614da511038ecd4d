import {
	constant,
	gelu,
	layerNorm,
	normalized,
	sub,
	type Tensor,
} from "../../engine/tensor/index.js";
import { filledWith, nested, normal, type WeightSpecs, type Weights } from "./weights.js";

/** A constant matrix, by row and column. */
export const table = (
	[rows, columns]: readonly [number, number],
	value: (row: number, column: number) => number,
	dtype: Tensor["dtype"] = "float32",
): Tensor =>
	constant(
		Array.from({ length: rows * columns }, (_, at) =>
			value(Math.floor(at / columns), at % columns),
		),
		[rows, columns],
		dtype,
	);

export interface LinearOptions {
	/** Of the weights at the start; 1 / √inside if left out. */
	readonly deviation?: number;
	readonly bias?: boolean;
}

export const linearWeights = (
	inside: number,
	outside: number,
	{ deviation = 1 / Math.sqrt(inside), bias = true }: LinearOptions = {},
): WeightSpecs => ({
	weight: normal([outside, inside], deviation),
	...(bias && { bias: filledWith(0, [outside]) }),
});

/** x W^T, over the last axis. */
export const product = (x: Tensor, weight: Tensor): Tensor =>
	x.matmul(weight, { transposeB: true });

/** x W^T, with the weights of this name. */
export const project = (p: Weights, name: string, x: Tensor): Tensor =>
	product(x, p(`${name}.weight`));

/** x W^T + b. */
export const linear = (p: Weights, name: string, x: Tensor): Tensor =>
	project(p, name, x).add(p(`${name}.bias`));

export const normWeights = (width: number): WeightSpecs => ({
	scale: filledWith(1, [width]),
	shift: filledWith(0, [width]),
});

/** The weights of a sub-layer, and of the norm before or after it. */
export const normed = (name: string, sublayer: WeightSpecs, width: number): WeightSpecs => ({
	...nested(name, sublayer),
	...nested(`${name}Norm`, normWeights(width)),
});

/** Layer norm with a learned scale and shift. */
export const norm = (p: Weights, name: string, x: Tensor): Tensor =>
	layerNorm(x, { scale: p(`${name}.scale`), shift: p(`${name}.shift`) });

/** How far a step moves the running averages towards the batch's own. */
const momentum = 0.1;

export const batchNormWeights = (width: number): WeightSpecs => ({
	scale: filledWith(1, [width]),
	shift: filledWith(0, [width]),
	mean: { ...filledWith(0, [width]), moving: true },
	variance: { ...filledWith(1, [width]), moving: true },
});

interface BatchNormOptions {
	/** 1 for what counts in the statistics, 0 for what does not, as padding: x without its last axis. */
	readonly counts: Tensor;
	/** There while it is learned from; the new running averages are noted in it. */
	readonly moving: Record<string, Tensor> | undefined;
}

/**
 * Batch norm over all axes but the last: with the batch's own mean and variance while it is learned
 * from, with their running averages otherwise. `name` is that of its weights among all of `p`.
 */
export function batchNorm(
	p: Weights,
	name: string,
	x: Tensor,
	{ counts, moving }: BatchNormOptions,
): Tensor {
	const weightOf = (weight: string) => p(`${name}.${weight}`);
	const affine = { scale: weightOf("scale"), shift: weightOf("shift") };
	if (!moving) return normalized(x, weightOf("mean"), weightOf("variance"), affine);
	const width = x.shape.at(-1) as number;
	const rows = x.reshape([-1, width]);
	const total = counts.sum();
	const shares = counts.div(total.maximum(1)).reshape([1, -1]); // [1, rows]
	const mean = shares.matmul(rows); // [1, width]
	const variance = shares.matmul(rows.sub(mean).square());
	// The running variance is the unbiased one; where nothing counts nothing moves.
	const unbiased = variance.mul(total.div(total.sub(1).maximum(1)));
	const share = total.minimum(1).mul(momentum);
	const moved = (weight: string, now: Tensor) =>
		weightOf(weight).add(now.reshape([width]).sub(weightOf(weight)).mul(share));
	moving[`${name}.mean`] = moved("mean", mean);
	moving[`${name}.variance`] = moved("variance", unbiased);
	return normalized(rows, mean, variance, affine).reshape(x.shape);
}

export const feedForwardWeights = (
	width: number,
	inside: number,
	/** Of the way back, where it starts smaller. */
	down: LinearOptions = {},
): WeightSpecs => ({
	...nested("up", linearWeights(width, inside)),
	...nested("down", linearWeights(inside, width, down)),
});

/** Two linear layers with an activation between them, GELU if none is named. */
export const feedForward = (
	p: Weights,
	name: string,
	x: Tensor,
	activation: (x: Tensor) => Tensor = gelu,
): Tensor => linear(p, `${name}.down`, activation(linear(p, `${name}.up`, x)));

/**
 * A gated recurrent unit that reads `inside` numbers and holds `width` (Cho et al. 2014):
 *
 *     z, r = σ(W x + U h + b)      h̃ = tanh(W x + U (r ⊙ h) + b)      h' = (1 − z) ⊙ h + z ⊙ h̃
 */
export const gruWeights = (inside: number, width: number): WeightSpecs => ({
	...nested("input", linearWeights(inside, 3 * width)),
	...nested("gates", linearWeights(width, 2 * width, { bias: false })),
	...nested("candidate", linearWeights(width, width, { bias: false })),
});

/** What the input adds before z, r and h̃: of all places at once, outside the recurrence. */
export const gruInput = (p: Weights, input: Tensor): Tensor => linear(p, "input", input); // [..., 3 width]

/** The next state, [rows, width], from what `gruInput` made of a place, [rows, 3 width]. */
export function gruStep(p: Weights, state: Tensor, fromInput: Tensor): Tensor {
	const width = state.shape.at(-1) as number;
	const [toGates, toCandidate] = parts(fromInput, [2 * width, width]);
	const gates = toGates.add(project(p, "gates", state)).sigmoid();
	const [z, r] = parts(gates, [width, width]);
	const candidate = toCandidate.add(project(p, "candidate", r.mul(state))).tanh();
	return state.add(z.mul(candidate.sub(state)));
}

const parts = (x: Tensor, sizes: readonly [number, number]) =>
	x.split(-1, sizes) as readonly [Tensor, Tensor];

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
