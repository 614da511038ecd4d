import {
	add,
	gelu,
	layerNorm,
	matmul,
	mul,
	rmsNorm,
	silu,
	type Tensor,
} from "../../engine/tensor/index.js";
import { joinHeads, splitHeads } from "../nn/attention.js";
import { type Angles, rotate } from "../nn/positions.js";
import type { Weights } from "../nn/weights.js";
import { type AttentionInputs, attention } from "./attention.js";
import { decaysByTime, type TrajgptConfig } from "./config.js";
import { decayRateOf } from "./decay.js";

/** What a layer reads: n tokens per row, slots first and then queries. */
export interface LayerInputs
	extends Pick<AttentionInputs, "slots" | "read" | "mask" | "state" | "form"> {
	readonly x: Tensor; // [batch, n, dim]
	/** Rotation of queries and keys by time; left out where positions are absolute. */
	readonly angles: Angles | undefined; // [batch, n, half]
	/** From log γ of one unit of time to that of each token's gap. */
	readonly overGaps: (rate: Tensor) => Tensor; // [batch, heads, n]
	/** The tokens whose outputs are wanted; all, if left out. */
	readonly wanted?: (t: Tensor) => Tensor; // [batch, n, …] → [batch, m, …]
}

export interface LayerOutputs {
	readonly x: Tensor; // [batch, m, dim]
	readonly state: Tensor; // [batch, heads, key / heads, value / heads]
	/** log γ of one unit of time, or of one event where the model decays by event. */
	readonly decayRate: Tensor; // [batch, heads, n]
	/** What each token adds to the state: S = γ S + kᵀ v. */
	readonly update: StateUpdate;
}

/** S = e^logDecay S + kᵀ v, of slots and then queries. */
export type StateUpdate = Pick<AttentionInputs, "k" | "v" | "logDecay">;

export const normOf = ({ norm }: TrajgptConfig) => (norm === "rms" ? rmsNorm : layerNorm);

/** x Wᵀ. */
export const project = (x: Tensor, weight: Tensor): Tensor =>
	matmul(x, weight, { transposeB: true });

/** One layer of TrajGPT: selective recurrent attention with a gate, then a feed-forward block. */
export function layer(config: TrajgptConfig, p: Weights, inputs: LayerInputs): LayerOutputs {
	const { x, angles, overGaps, wanted = (t) => t, ...past } = inputs;
	const norm = normOf(config);
	const heads = (t: Tensor) => splitHeads(t, config.heads); // [batch, heads, n, size]
	const h = norm(x);

	// Queries, keys and values; queries and keys are rotated by time.
	const scaled = mul(p("query"), 1 / Math.sqrt(config.key / config.heads));
	const queries = heads(project(wanted(h), scaled));
	const keys = heads(project(h, p("key")));
	const q = angles
		? rotate(queries, { cosine: wanted(angles.cosine), sine: wanted(angles.sine) })
		: queries;
	const k = angles ? rotate(keys, angles) : keys;
	const v = heads(project(h, p("value")));

	// Decay: log γ = log σ(h W + b) / τ, over each token's gap.
	const decayRate = decayRateOf(config, p, h);
	const logDecay = decaysByTime(config) ? overGaps(decayRate) : decayRate;

	// Recurrence: S = γ S + kᵀ v, o = q S.
	const { output, state } = attention({ ...past, q, k, v, logDecay });

	// Gate.
	const gated = mul(joinHeads(norm(output)), silu(project(wanted(h), p("gate"))));
	const attended = add(wanted(x), project(gated, p("out")));

	// Feed-forward.
	const fed = project(gelu(project(norm(attended), p("up"))), p("down"));
	return { x: add(attended, fed), state, decayRate, update: { k, v, logDecay } };
}
