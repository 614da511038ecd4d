import {
	concat,
	type Dim,
	gelu,
	layerNorm,
	rmsNorm,
	silu,
	type Tensor,
} from "../../engine/tensor/index.js";
import * as nn from "../nn/index.js";
import { decaysByTime, type TrajgptConfig } from "./config.js";
import { decayRateOf } from "./decay.js";

/**
 * The state a query reads: before the slot of the same index in its row, after the last slot, or
 * after the given number of slots.
 */
export type Reading = "before" | "after" | { readonly positions: Tensor }; // [batch, queries], int32

export interface AttentionInputs {
	/** Of slots, then of queries; or of queries alone, where outputs of slots are not needed. */
	readonly q: Tensor; // [batch, heads, slots + queries or queries, size]
	readonly k: Tensor; // [batch, heads, slots + queries, size], as v
	readonly v: Tensor;
	readonly logDecay: Tensor; // [batch, heads, slots + queries]
	readonly slots: Dim;
	/** Left out where there are no queries. */
	readonly read: Reading | undefined;
	/** 1 at events, 0 at padding. */
	readonly mask: Tensor | undefined; // [batch, slots]
	readonly state: Tensor | undefined; // [batch, heads, key, value]
	/** The fastest for the length, unless given. */
	readonly form?: nn.SraForm | undefined;
}

/**
 * Slots advance the state; each query reads a state as a slot would, without changing it.
 * The output is as long as q.
 */
export function attention(x: AttentionInputs): { readonly output: Tensor; readonly state: Tensor } {
	const slotPart = (t: Tensor) => t.slice(2, 0, x.slots);
	const queryPart = (t: Tensor) => t.slice(2, x.slots);
	const masked = (t: Tensor) => {
		if (!x.mask) return t;
		const [batch, slots] = x.mask.shape as [Dim, Dim];
		return t.mul(x.mask.reshape([batch, 1, slots, ...t.shape.slice(3).map(() => 1)]));
	};
	const past = x.slots !== 0 && {
		k: masked(slotPart(x.k)),
		v: slotPart(x.v),
		logDecay: masked(slotPart(x.logDecay)),
		initialState: x.state,
	};
	const queriesOnly = x.q.shape[2] !== x.k.shape[2];
	const attentionQueries = () => (queriesOnly ? x.q : queryPart(x.q));
	const before = x.read === "before" ? attentionQueries() : undefined;
	// Outputs that are not used are not computed, so any attention queries of slots will do.
	const form = x.form ?? nn.sra;
	const main = past
		? form({ ...past, q: queriesOnly ? past.k : slotPart(x.q), before })
		: undefined;
	const state = main?.finalState ?? x.state;
	if (!state) throw new Error("queries without slots need a state to read");
	if (!x.read) return { output: main?.output as Tensor, state };

	// o' = γ' q' S + (q' · k') v'
	const queries = attentionQueries();
	const read =
		past && typeof x.read === "object"
			? nn.readAtPositions({ ...past, queries, positions: x.read.positions })
			: (main?.before ?? queries.matmul(state));
	const decay = queryPart(x.logDecay).exp();
	const selfScores = queries.mul(queryPart(x.k)).sum(-1, true);
	const answers = read.mul(decay.reshape([...decay.shape, 1])).add(selfScores.mul(queryPart(x.v)));
	return { output: main && !queriesOnly ? concat([main.output, answers], 2) : answers, state };
}

/** What a layer reads: n tokens per row, slots first and then queries. */
interface LayerInputs extends Pick<AttentionInputs, "slots" | "read" | "mask" | "state" | "form"> {
	readonly x: Tensor; // [batch, n, dim]
	/** Rotation of queries and keys by time; left out where positions are absolute. */
	readonly angles: nn.Angles | undefined; // [batch, n, half]
	/** From log γ of one unit of time to that of each token's gap. */
	readonly overGaps: (rate: Tensor) => Tensor; // [batch, heads, n]
	/** The tokens whose outputs are wanted; all, if left out. */
	readonly wanted?: (t: Tensor) => Tensor; // [batch, n, …] → [batch, m, …]
}

/** S = e^logDecay S + kᵀ v, of slots and then queries. */
export type StateUpdate = Pick<AttentionInputs, "k" | "v" | "logDecay">;

export const normOf = ({ norm }: TrajgptConfig) => (norm === "rms" ? rmsNorm : layerNorm);

/** One layer of TrajGPT: selective recurrent attention with a gate, then a feed-forward block. */
export function layer(config: TrajgptConfig, p: nn.Weights, inputs: LayerInputs) {
	const { x, angles, overGaps, wanted = (t) => t, ...past } = inputs;
	const norm = normOf(config);
	const heads = (t: Tensor) => nn.splitHeads(t, config.heads); // [batch, heads, n, size]
	const h = norm(x);

	// Queries, keys and values; queries and keys are rotated by time.
	const scaled = p("query").mul(1 / Math.sqrt(config.key / config.heads));
	const queries = heads(nn.product(wanted(h), scaled));
	const keys = heads(nn.product(h, p("key")));
	const q = angles
		? nn.rotate(queries, { cosine: wanted(angles.cosine), sine: wanted(angles.sine) })
		: queries;
	const k = angles ? nn.rotate(keys, angles) : keys;
	const v = heads(nn.product(h, p("value")));

	// Decay: log γ = log σ(h W + b) / τ, over each token's gap.
	const decayRate = decayRateOf(config, p, h);
	const logDecay = decaysByTime(config) ? overGaps(decayRate) : decayRate;

	// Recurrence: S = γ S + kᵀ v, o = q S.
	const { output, state } = attention({ ...past, q, k, v, logDecay });

	// Gate.
	const gated = nn.joinHeads(norm(output)).mul(silu(nn.product(wanted(h), p("gate"))));
	const attended = wanted(x).add(nn.product(gated, p("out")));

	// Feed-forward.
	const fed = nn.product(gelu(nn.product(norm(attended), p("up"))), p("down"));
	return {
		x: attended.add(fed), // [batch, m, dim]
		state, // [batch, heads, key / heads, value / heads]
		/** log γ of one unit of time, or of one event where the model decays by event. */
		decayRate, // [batch, heads, n]
		/** What each token adds to the state: S = γ S + kᵀ v. */
		update: { k, v, logDecay },
	};
}
