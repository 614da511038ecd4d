import { specialCount } from "../../data/cohort/vocabulary.js";
import type { Dim, FloatType, Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import * as nn from "../nn/index.js";
import type { TrajgptConfig } from "./config.js";
import { decayRateOf } from "./decay.js";

/**
 * The state a query reads: before the slot of the same index in its row, after the last slot, or
 * after the given number of slots.
 */
export type Reading = "before" | "after" | { readonly positions: Tensor }; // [batch, queries], int32

interface AttentionInputs {
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
function attention(x: AttentionInputs): { readonly output: Tensor; readonly state: Tensor } {
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
	return {
		output: main && !queriesOnly ? graph.concat([main.output, answers], 2) : answers,
		state,
	};
}

/** What a layer reads: n tokens per row, slots first and then queries. */
interface LayerInputs extends Pick<AttentionInputs, "slots" | "read" | "mask" | "state" | "form"> {
	readonly x: Tensor; // [batch, n, dim]
	/** Rotation of queries and keys by time or index; left out where positions are absolute. */
	readonly angles: nn.Angles | undefined; // [batch, n, half]
	/** From the rates of decay to the log of what each token leaves of the state before it. */
	readonly logDecayOf: (rate: Tensor) => Tensor; // [batch, heads, n]
	/** The tokens whose outputs are wanted; all, if left out. */
	readonly wanted?: (t: Tensor) => Tensor; // [batch, n, …] → [batch, m, …]
}

/** S = e^logDecay S + kᵀ v, of slots and then queries. */
export type StateUpdate = Pick<AttentionInputs, "k" | "v" | "logDecay">;

export const normOf = ({ norm }: TrajgptConfig) =>
	norm === "rms" ? graph.rmsNorm : graph.layerNorm;

/** One layer of TrajGPT: selective recurrent attention with a gate, then a feed-forward block. */
export function layer(config: TrajgptConfig, p: nn.Weights, inputs: LayerInputs) {
	const { x, angles, logDecayOf, wanted = (t) => t, ...past } = inputs;
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

	// Decay: log γ = log σ(h W + b) / τ, over each token's event or gap.
	const decayRate = decayRateOf(config, p, h);
	const logDecay = logDecayOf(decayRate);

	// Recurrence: S = γ S + kᵀ v, o = q S.
	const { output, state } = attention({ ...past, q, k, v, logDecay });

	// Gate.
	const gated = nn.joinHeads(norm(output)).mul(graph.silu(nn.product(wanted(h), p("gate"))));
	const attended = wanted(x).add(nn.product(gated, p("out")));

	// Feed-forward.
	const fed = nn.product(graph.gelu(nn.product(norm(attended), p("up"))), p("down"));
	return {
		x: attended.add(fed), // [batch, m, dim]
		state, // [batch, heads, key / heads, value / heads]
		/** log γ of one unit of time, or of one event where the model decays by event. */
		decayRate, // [batch, heads, n]
		/** What each token adds to the state: S = γ S + kᵀ v. */
		update: { k, v, logDecay },
	};
}

/** The weights of the counting heads. */
export function countingWeights({ copies, dim, vocab }: TrajgptConfig): nn.WeightSpecs {
	if (copies === 0) return {};
	const weight = nn.filledWith(0, [copies, dim]);
	return nn.nested("copy", {
		weight,
		weightBias: nn.filledWith(0, [copies]),
		decay: weight,
		decayBias: nn.filledWith(5, [copies]),
		trust: weight,
		trustBias: nn.filledWith(1, [copies]),
		scale: nn.filledWith(2, [copies, vocab]),
	});
}

interface CountingInputs extends Pick<AttentionInputs, "slots" | "read" | "mask" | "form"> {
	readonly tokens: Tensor; // [batch, n], slots and then queries
	/** Embedded slots and queries, before any layer. */
	readonly embedded: Tensor; // [batch, n, dim]
	/** Output of the last layer where logits are wanted. */
	readonly hidden: Tensor; // [batch, m, dim]; m = n, or the queries alone
	/** From log γ of one unit of time to that of each gap. */
	readonly overGaps: (rate: Tensor) => Tensor; // [batch, copies, n]
	readonly state: Tensor | undefined; // [batch, copies, 1, vocab]
}

/**
 * Recorded codes tend to be recorded again. Every slot counts its token, and counts fade with time:
 *   c_n = γ_n c_{n−1} + w_n onehot(u_n),   logits_n += trust_n log(1 + e^s ⊙ c_n).
 * This is selective recurrent attention with keys of size 1 and tokens as values. The weight w and
 * the decay γ come from what a slot holds, the trust from what the network makes of the history.
 */
export function countingLogits(
	config: TrajgptConfig,
	p: (name: string) => Tensor,
	{ tokens, embedded, hidden, overGaps, ...reading }: CountingInputs,
): { readonly logits: Tensor; readonly state: Tensor; readonly update: StateUpdate } {
	const { copies, vocab } = config;
	const dtype = embedded.dtype as FloatType;
	const [batch, n] = tokens.shape as [Dim, Dim];
	const m = hidden.shape[1];
	const perHead = (x: Tensor, name: string) =>
		x
			.matmul(p(`copy.${name}`), { transposeB: true })
			.add(p(`copy.${name}Bias`))
			.transpose([0, 2, 1]); // [batch, copies, …]
	const rate = perHead(embedded, "decay")
		.logSigmoid()
		.mul(1 / config.decayUnitDays);
	// Special tokens are never recorded, so they are not counted.
	const isCode = Array.from({ length: vocab }, (_, token) => Number(token >= specialCount));
	const codes = graph.oneHot(tokens, vocab, dtype).mul(graph.constant(isCode, [vocab], dtype));
	const seen = codes.reshape([batch, 1, n, vocab]);
	const update = {
		k: perHead(embedded, "weight").exp().reshape([batch, copies, n, 1]),
		v: seen.expand([batch, copies, n, vocab]),
		logDecay: overGaps(rate),
	};
	const { output: counts, state } = attention({
		...reading,
		q: graph.constant([1], [1, 1, 1, 1], dtype).expand([batch, copies, m, 1]),
		...update,
	}); // [batch, copies, m, vocab]
	const level = counts
		.mul(p("copy.scale").exp().reshape([copies, 1, vocab]))
		.add(1)
		.log();
	const trust = perHead(hidden, "trust").reshape([batch, copies, m, 1]);
	return { logits: level.mul(trust).sum(1), state, update };
}
