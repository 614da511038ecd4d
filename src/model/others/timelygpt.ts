/*
 * TimelyGPT (Song et al., ACM BCB 2024). Each layer is pre-norm and residual: retention (`nn/retention.ts`),
 * convolution, feed-forward.
 *
 *     γ_h  = 1 − exp(linspace(log 1/64, log 1/512))_h                         fixed, one per head
 *     o_n  = Σ_{m ≤ n} γ_h^(t_n − t_m) (q̂_n · k̂_m / √size) v_m                retention
 *     y    = W_o (silu(W_g x) ⊙ norm_h(o))                                    norm per head
 *     conv = W_2 silu(norm(depthwise_31(a ⊙ σ(b)))),   [a ; b] = W_1 x
 *
 * A query at t' moves the attention query of the last event x_n to t', adds no key, value or position, and takes the place
 * of x_n in the convolution: o(t') = q̂(t') γ_h^(t' − t_n) S_n / √size.
 */

import type { z } from "zod";
import { conv1d, gather, silu, type Tensor } from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import {
	integer,
	layeredFields,
	layeredPresets,
	modelSettings,
	pairsInHeads,
	retentionFields,
} from "../kinds/fields.js";
import * as nn from "../nn/index.js";

export const convolutionWeights = (width: number, kernel: number): nn.WeightSpecs => ({
	...nn.nested("gated", nn.linearWeights(width, 2 * width)),
	depthwise: nn.normal([width, 1, kernel], 1 / Math.sqrt(kernel)),
	...nn.nested("norm", nn.normWeights(width)),
	...nn.nested("out", nn.linearWeights(width, width)),
});

/** What goes into the depthwise part and what comes out of it, [rows, places, width]. */
interface Convolved {
	readonly gated: Tensor;
	readonly local: Tensor;
}

const gatedOf = (p: nn.Weights, x: Tensor): Tensor => {
	const width = x.shape[2] as number;
	const both = nn.linear(p, "gated", x); // [rows, places, 2 width]
	return both.slice(2, 0, width).mul(both.slice(2, width).sigmoid());
};

const out = (p: nn.Weights, local: Tensor): Tensor =>
	nn.linear(p, "out", silu(nn.norm(p, "norm", local)));

/**
 * The convolution of a Conformer: pointwise with a gate, depthwise over the places, norm, SiLU,
 * pointwise. All zeros stand before the first place: none sees a later one.
 */
export function convolution(
	p: nn.Weights,
	x: Tensor,
): { readonly output: Tensor; readonly convolved: Convolved } {
	const [width, , kernel] = p("depthwise").shape as [number, number, number];
	const gated = gatedOf(p, x);
	const local = conv1d(gated.transpose(), p("depthwise"), {
		padding: [kernel - 1, 0],
		groups: width,
	}).transpose();
	return { output: out(p, local), convolved: { gated, local } };
}

/** The same for one that stands in the stead of a place, after those that came before it. */
function convolutionInstead(p: nn.Weights, x: Tensor, { gated, local }: Convolved): Tensor {
	const [width, , kernel] = p("depthwise").shape as [number, number, number];
	const lastTap = p("depthwise")
		.slice(2, kernel - 1)
		.reshape([width]);
	return out(p, local.add(gatedOf(p, x).sub(gated).mul(lastTap)));
}

const config = modelSettings({
	...layeredFields(192),
	...retentionFields,
	kernel: integer(1, 1024, 31, "places that the convolution spans"),
}).refine(pairsInHeads.check, pairsInHeads.say);

type TimelyGptConfig = z.infer<typeof config>;

/** What queries read of the history. */
interface Known {
	readonly vectors: Tensor; // [rows, places, dim]
	readonly layers: readonly { readonly retained: nn.Retained; readonly convolved: Convolved }[];
}

/** Retention that forgets at fixed rates of time, and a convolution for what is near, in each layer. */
export const timelygpt = causalModel<TimelyGptConfig, Known>({
	id: "timelygpt",
	name: "TimelyGPT",
	cite: "Song, Lu, Xu, Zhu, Buckeridge, Li: TimelyGPT: Extrapolatable Transformer Pre-training for Long-term Time-Series Forecasting in Healthcare, ACM BCB 2024",
	config,
	learningRate: 1e-2,
	presets: layeredPresets(128),
	pretraining: "next",
	weights({ layers, dim, ff, kernel }) {
		const layer = {
			...nn.normed("retention", nn.retentionWeights(dim), dim),
			...nn.normed("convolution", convolutionWeights(dim, kernel), dim),
			...nn.normed("feedForward", nn.feedForwardWeights(dim, ff), dim),
		};
		return {
			...nn.numbered("layers", layers, layer),
			...nn.nested("norm", nn.normWeights(dim)),
		};
	},
	observe(settings, p, { tokens, days, gaps, mask }) {
		const reading = nn.readingOf({ days, gaps, mask }, settings);
		const vectors = gather(p("embedding"), tokens);
		let x: Tensor = vectors;
		const layers = nn.withinEach(p, "layers", settings.layers).map((q) => {
			const seen = nn.retention(nn.within(q, "retention"), nn.norm(q, "retentionNorm", x), reading);
			x = x.add(seen.output);
			const near = convolution(nn.within(q, "convolution"), nn.norm(q, "convolutionNorm", x));
			x = x.add(near.output);
			x = x.add(nn.feedForward(q, "feedForward", nn.norm(q, "feedForwardNorm", x)));
			return { retained: seen.retained, convolved: near.convolved };
		});
		return { vectors, layers };
	},
	// The last position is read again at the query time, with an attention query rotated to that time.
	query(settings, p, { vectors, layers }, queries, from) {
		const retentionAt = nn.retentionQueries(queries, settings, from);
		let x = from.at(vectors);
		for (const [i, q] of nn.withinEach(p, "layers", settings.layers).entries()) {
			const { retained, convolved } = layers[i];
			const here = { gated: from.at(convolved.gated), local: from.at(convolved.local) };
			const normed = nn.norm(q, "retentionNorm", x);
			x = x.add(nn.queryRetention(nn.within(q, "retention"), normed, retained, retentionAt));
			x = x.add(
				convolutionInstead(nn.within(q, "convolution"), nn.norm(q, "convolutionNorm", x), here),
			);
			x = x.add(nn.feedForward(q, "feedForward", nn.norm(q, "feedForwardNorm", x)));
		}
		return nn.norm(p, "norm", x);
	},
});
