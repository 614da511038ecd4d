import { constant, layerNorm, mul, reshape, silu, type Tensor } from "../graph/index.js";
import { joinHeads, splitHeads } from "./attention.js";
import { linearWeights, project } from "./linear.js";
import { turn } from "./rotary-time.js";
import { sra } from "./sra/index.js";
import { nested, type WeightSpecs, type Weights, within } from "./weights.js";
import { type Xpos, xpos } from "./xpos.js";

/** γ_h of one unit of time: 1 − exp(linspace(log 1/64, log 1/512)). */
export const headDecays = (heads: number): number[] =>
	Array.from({ length: heads }, (_, h) => 1 - 8 ** (-h / Math.max(1, heads - 1)) / 64);

/** What retention needs to know of the places, in the order in which they are read. */
export interface Reading {
	readonly positions: Xpos;
	readonly logDecay: Tensor; // [rows, heads, places]
	/** 1 where a place is real; without it, padding comes after all that is real. */
	readonly real: Tensor | undefined; // [rows, places]
}

export interface Places {
	/** Elapsed since the place that is read first. */
	readonly days: Tensor; // [rows, places]
	/** Elapsed since the place that is read before. */
	readonly gaps: Tensor; // [rows, places]
	readonly real?: Tensor;
}

export interface RetentionSettings {
	readonly heads: number;
	readonly dim: number;
	/** Days in the unit of time of decays and positions. */
	readonly decayUnitDays: number;
}

/** Decays and positions of places: the same for all layers that read them in this order. */
export function readingOf(
	{ days, gaps, real }: Places,
	{ heads, dim, decayUnitDays }: RetentionSettings,
): Reading {
	const [rows, places] = gaps.shape as [number, number];
	const size = dim / heads;
	const rates = headDecays(heads).map((decay) => Math.log(decay) / decayUnitDays);
	const elapsed = reshape(real ? mul(gaps, real) : gaps, [rows, 1, places]);
	return {
		positions: xpos(mul(days, 1 / decayUnitDays), size, 1 / Math.sqrt(size)),
		logDecay: mul(elapsed, constant(rates, [heads, 1], gaps.dtype)),
		real,
	};
}

const parts = ["query", "key", "value", "gate", "out"] as const;

export const retentionWeights = (width: number): WeightSpecs =>
	Object.assign(
		{},
		...parts.map((part) => nested(part, linearWeights(width, width, { bias: false }))),
	);

/**
 * Multi-scale retention (Sun et al. 2023) over elapsed time, head by head:
 *   o_n = Σ_{m ≤ n} γ_h^(t_n − t_m) (q_n · k_m / √size) v_m,   y = W_o (silu(W_g x) ⊙ norm(o)).
 */
export function retention(p: Weights, x: Tensor, { positions, logDecay, real }: Reading): Tensor {
	const [rows, heads, places] = logDecay.shape as [number, number, number];
	const part = (name: (typeof parts)[number]) => project(within(p, name), x);
	const split = (name: (typeof parts)[number]) => splitHeads(part(name), heads); // [rows, heads, places, size]
	const k = turn(split("key"), positions.keys);
	const { output } = sra({
		q: turn(split("query"), positions.queries),
		k: real ? mul(k, reshape(real, [rows, 1, places, 1])) : k,
		v: split("value"),
		logDecay,
	});
	return project(within(p, "out"), mul(silu(part("gate")), joinHeads(layerNorm(output))));
}
