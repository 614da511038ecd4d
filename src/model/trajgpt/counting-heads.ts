import { specialCount } from "../../data/cohort/vocabulary.js";
import {
	constant,
	type Dim,
	type FloatType,
	oneHot,
	type Tensor,
} from "../../engine/tensor/index.js";
import { filledWith, nested, type WeightSpecs } from "../nn/weights.js";
import type { TrajgptConfig } from "./config.js";
import { type AttentionInputs, attention, type StateUpdate } from "./layer.js";

/** The weights of the counting heads. */
export function countingWeights({ copies, dim, vocab }: TrajgptConfig): WeightSpecs {
	if (copies === 0) return {};
	const weight = filledWith(0, [copies, dim]);
	return nested("copy", {
		weight,
		weightBias: filledWith(0, [copies]),
		decay: weight,
		decayBias: filledWith(5, [copies]),
		trust: weight,
		trustBias: filledWith(1, [copies]),
		scale: filledWith(2, [copies, vocab]),
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
	const codes = oneHot(tokens, vocab, dtype).mul(constant(isCode, [vocab], dtype));
	const seen = codes.reshape([batch, 1, n, vocab]);
	const update = {
		k: perHead(embedded, "weight").exp().reshape([batch, copies, n, 1]),
		v: seen.expand([batch, copies, n, vocab]),
		logDecay: overGaps(rate),
	};
	const { output: counts, state } = attention({
		...reading,
		q: constant([1], [1, 1, 1, 1], dtype).expand([batch, copies, m, 1]),
		...update,
	}); // [batch, copies, m, vocab]
	const level = counts
		.mul(p("copy.scale").exp().reshape([copies, 1, vocab]))
		.add(1)
		.log();
	const trust = perHead(hidden, "trust").reshape([batch, copies, m, 1]);
	return { logits: level.mul(trust).sum(1), state, update };
}
