/*
 * GRU-D (Che et al., 2018). A variable is a code, over the whole vocabulary; δ is the time since each was last observed,
 * and m marks the one that is observed now:
 *
 *     γ = exp(−relu(W_γ δ + b_γ))                                  W_γ diagonal for the input, full for the state
 *     x̂ = m ⊙ x + (1 − m) ⊙ (γ_x ⊙ x_last + (1 − γ_x) ⊙ x̃)
 *     ĥ = γ_h ⊙ h
 *     z, r = σ(W x̂ + U ĥ + V m + b)      h̃ = tanh(W x̂ + U (r ⊙ ĥ) + V m + b)      h = (1 − z) ⊙ ĥ + z ⊙ h̃
 *
 * W and V are products of a table with `dim` numbers per code and a matrix. Only ĥ and the gates are inside the recurrence.
 */

import type { z } from "zod";
import { yearDays } from "../../base/time.js";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import { fields, modelSettings, positive } from "../kinds/fields.js";
import * as nn from "../nn/index.js";

/**
 * For every place and code, 1 + the day on which the code was last seen, 0 if never: with the place
 * itself, and `before` it. Each time a code is seen adds the days since the time before, so that
 * running sums tell the last.
 */
export function lastSeen(
	tokens: Tensor,
	days: Tensor,
	codes: number,
): Readonly<Record<"last" | "before", Tensor>> {
	const [rows, places] = tokens.shape as [number, number];
	const at = days.add(1); // [rows, places]
	const down = tokens.reshape([rows, places, 1]);
	const other = tokens.reshape([rows, 1, places]);
	const order = Array.from({ length: places }, (_, i) => i);
	const earlier = graph
		.constant(order, [1, places], "int32")
		.less(graph.constant(order, [places, 1], "int32"));
	const again = graph.both(down.equal(other), earlier); // [rows, places, places]
	const previous = graph.where(again, at.reshape([rows, 1, places]), 0).max(2); // [rows, places]
	const since = at.sub(previous).reshape([rows, places, 1]);
	const added = graph.oneHot(tokens, codes, days.dtype).mul(since); // [rows, places, codes]
	return {
		last: added.cumulativeSum(1),
		before: added.cumulativeSum(1, { exclusive: true }),
	};
}

/** 1 where a code was ever seen. */
export const everSeen = (last: Tensor): Tensor => graph.less(0, last).cast(last.dtype);

/** δ: days since each code was last seen; 0 if it never was. */
export const daysSince = (last: Tensor, days: Tensor): Tensor => {
	const now = days.reshape([...days.shape, 1]).add(1);
	return graph.where(graph.less(0, last), now.sub(last).maximum(0), 0);
};

const config = modelSettings({
	dim: fields.dim(96),
	decayDays: positive(
		365_250,
		yearDays,
		"days in one unit of the time since a code was seen, by which it decays",
	),
});

type GruDConfig = z.infer<typeof config>;

/** γ = e^{−relu(rate)}: from 1, nothing lost, to 0. */
const decay = (rate: Tensor): Tensor => rate.relu().neg().exp();

/** What W x̂ + b adds before the gates, and γ_h, at some days, from when each code was last seen. */
function decayed(
	{ decayDays }: GruDConfig,
	p: nn.Weights,
	last: Tensor, // [rows, places, vocab]
	days: Tensor, // [rows, places]
	/** Where a code is seen, its value is 1 and nothing is lost of it. */
	mask?: Tensor,
) {
	const delta = daysSince(last, days).mul(1 / decayDays); // [rows, places, vocab]
	const kept = everSeen(last).mul(decay(delta.mul(p("inputDecay")).add(p("inputDecayBias"))));
	// x̂ = kept · 1 + (1 − kept) mean, times the inputs' matrix.
	const mean = p("mean");
	const vocab = mean.shape[0] as number;
	const apart = graph.sub(1, mean).reshape([vocab, 1]).mul(p("inputs"));
	const x = (mask ? graph.where(mask, 1, kept) : kept)
		.matmul(apart)
		.add(mean.reshape([1, vocab]).matmul(p("inputs")));
	return {
		fromInput: nn.gruInput(nn.within(p, "gru"), x), // [rows, places, 3 dim]
		keptState: decay(nn.linear(p, "hiddenDecay", delta)), // [rows, places, dim]
	};
}

/** A GRU whose inputs fade toward their mean, and its state toward 0, with the time since each code was seen. */
export const gruD = causalModel<GruDConfig>({
	id: "gru-d",
	name: "GRU-D",
	cite: "Che, Purushotham, Cho, Sontag, Liu: Recurrent Neural Networks for Multivariate Time Series with Missing Values, 2018",
	config,
	learningRate: 1e-2,
	presets: { tiny: { dim: 64 }, default: {}, paper: { dim: 200 } },
	pretraining: "none",
	weights: ({ vocab, dim }) => ({
		/** Of what the inputs hold; `embedding` is of their mask. */
		inputs: nn.normal([vocab, dim], 0.1),
		mean: nn.filledWith(1 / vocab, [vocab]),
		inputDecay: nn.filledWith(1, [vocab]),
		inputDecayBias: nn.filledWith(0, [vocab]),
		...nn.nested(
			"hiddenDecay",
			nn.linearWeights(vocab, dim, { deviation: 0.1 / Math.sqrt(vocab) }),
		),
		...nn.nested("gru", nn.gruWeights(dim, dim)),
		...nn.nested("mask", nn.linearWeights(dim, 3 * dim, { bias: false })),
	}),
	observe(config, p, { tokens, days }) {
		const rows = tokens.shape[0] as number;
		const { last, before } = lastSeen(tokens, days, config.vocab);
		const mask = graph.oneHot(tokens, config.vocab, "bool");
		const { fromInput, keptState } = decayed(config, p, before, days, mask);
		const masked = nn.project(p, "mask", graph.gather(p("embedding"), tokens));
		const { outputs } = graph.scan(
			(state: Tensor, [kept, from]) => {
				const next = nn.gruStep(nn.within(p, "gru"), state.mul(kept), from);
				return [next, next];
			},
			graph.filled(0, [rows, config.dim], keptState.dtype),
			[keptState, fromInput.add(masked)],
		);
		return graph.concat([outputs, last], 2); // [rows, places, dim + vocab]
	},
	/** A place at which no code is seen. */
	query(config, p, known, queries, from) {
		const here = from.at(known);
		const state = here.slice(2, 0, config.dim);
		const last = here.slice(2, config.dim);
		const { fromInput, keptState } = decayed(config, p, last, queries.days);
		return nn.gruStep(nn.within(p, "gru"), state.mul(keptState), fromInput);
	},
});
