/*
 * BiTimelyGPT (Song et al., MLHC 2024): [SOS], the events and [EOS] in an even number L of layers of retention and
 * feed-forward. The sequence is reversed between layers:
 *
 *     odd:   o_n = Σ_{m ≤ n} γ_h^(t_n − t_m) (q̂_n · k̂_m / √size) v_m
 *     even:  o_n = Σ_{m ≥ n} γ_h^(t_m − t_n) (q̂_n · k̂_m / √size) v_m
 *     loss = −Σ_n log softmax(E N x_n^(L−1))[c_{n+1}] − Σ_n log softmax(E N x_n^(L))[c_{n−1}]
 *
 * with N the last norm, E the head and x^(l) the output of layer l. The loss is not a likelihood: from layer 2 on, a
 * position has read the positions on its other side.
 */

import type { z } from "zod";
import { concat, filled, flip, gelu, type Tensor } from "../../engine/tensor/index.js";
import {
	fields,
	layeredFields,
	layeredPresets,
	modelSettings,
	pairsInHeads,
	retentionFields,
} from "../kinds/fields.js";
import { embedded, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

interface AlternatingSettings extends nn.RetentionSettings {
	/** Even. */
	readonly layers: number;
	readonly ff: number;
}

export function alternatingWeights({ layers, dim, ff }: AlternatingSettings): nn.WeightSpecs {
	const layer = {
		...nn.normed("retention", nn.retentionWeights(dim), dim),
		...nn.normed("feedForward", nn.feedForwardWeights(dim, ff), dim),
	};
	return {
		end: nn.normal([dim], 1), // [EOS]
		...nn.numbered("layers", layers, layer),
		...nn.nested("norm", nn.normWeights(dim)),
	};
}

/** With a place for [EOS], at the time of the last. */
function withEnd({ days, gaps, mask }: Required<nn.ElapsedTimes>): Required<nn.ElapsedTimes> {
	const constantly = (value: number) => filled(value, [gaps.shape[0] as number, 1], gaps.dtype);
	return {
		days: concat([days, days.slice(1, -1)], 1),
		gaps: concat([gaps, constantly(0)], 1),
		mask: concat([mask, constantly(1)], 1),
	};
}

/** The places in reverse order, time counted from the last back. */
function flipped({ days, gaps, mask }: Required<nn.ElapsedTimes>): Required<nn.ElapsedTimes> {
	const none = filled(0, [gaps.shape[0] as number, 1], gaps.dtype);
	return {
		days: flip(days.slice(1, -1).sub(days), 1),
		// The gap before a place is now before the one that it came after.
		gaps: concat([none, flip(gaps.slice(1, 1), 1)], 1),
		mask: flip(mask, 1),
	};
}

/**
 * Odd layers read the places in their order, even ones in reverse: between layers the sequence is
 * flipped. Gives the views of the last two, both in the places' order.
 */
export function alternating(
	settings: AlternatingSettings,
	p: nn.Weights,
	vectors: Tensor, // [rows, places, dim]
	places: Required<nn.ElapsedTimes>,
): { readonly forwards: Tensor; readonly backwards: Tensor } {
	const [rows, count, dim] = vectors.shape as [number, number, number];
	const ended = withEnd(places);
	const readings = [ended, flipped(ended)].map((order) => nn.readingOf(order, settings));
	const end = p("end").reshape([1, 1, dim]).expand([rows, 1, dim]);
	const view = (x: Tensor) => nn.norm(p, "norm", x.slice(1, 0, count));

	let x = concat([vectors, end], 1);
	let forwards = x;
	for (let i = 0; i < settings.layers; i++) {
		const q = nn.within(p, `layers.${i}`);
		if (i > 0) x = flip(x, 1);
		const reading = readings[i % 2];
		const normed = nn.norm(q, "retentionNorm", x);
		x = x.add(nn.retention(nn.within(q, "retention"), normed, reading).output);
		x = x.add(nn.feedForward(q, "feedForward", nn.norm(q, "feedForwardNorm", x)));
		if (i === settings.layers - 2) forwards = x;
	}
	return { forwards: view(forwards), backwards: view(flip(x, 1)) };
}

export const forecastWeights = ({
	dim,
	ff,
	ahead,
}: {
	readonly dim: number;
	readonly ff: number;
	readonly ahead: number;
}): nn.WeightSpecs =>
	nn.nested("forecast", {
		...nn.nested("ends", nn.linearWeights(2 * dim, ff, { bias: false })),
		questions: nn.normal([ahead, ff], 1),
		...nn.nested("out", nn.linearWeights(ff, dim)),
	});

/**
 * What is to come from both ends of a window: its first place ([SOS] where there is room), where the
 * last layer has read all of it backwards, and its last, where the layer before has read it forwards.
 * Question i has a vector of its own: h_i = W_o gelu(W [first; last] + e_i).
 */
export function forecast(weights: nn.Weights, encoded: Tensor, mask: Tensor): Tensor {
	const p = nn.within(weights, "forecast");
	const [rows, places] = mask.shape as [number, number];
	const isFirst = mask.sub(mask.pad(1, 1, 0).slice(1, 0, places)); // [rows, places]
	const first = isFirst.reshape([rows, 1, places]).matmul(encoded); // [rows, 1, dim]
	const ends = nn.project(p, "ends", concat([first, encoded.slice(1, -1)], 2));
	return nn.linear(p, "out", gelu(ends.add(p("questions")))); // [rows, ahead, dim]
}

const config = modelSettings({
	...layeredFields(192),
	...retentionFields,
	window: fields.window,
	windows: fields.windows(3),
	ahead: fields.ahead,
})
	.refine(pairsInHeads.check, pairsInHeads.say)
	.refine(({ layers }) => layers % 2 === 0, {
		path: ["layers"],
		error: "an even number: the last layer reads backwards, the one before it forwards",
	});

type BiTimelyGptConfig = z.infer<typeof config>;

/** Retention layers that read forwards and backwards in turn. */
export const bitimelygpt = windowModel<BiTimelyGptConfig>({
	id: "bitimelygpt",
	name: "BiTimelyGPT",
	cite: "Song, Lu, Zhu, Buckeridge, Li: Bidirectional Generative Pre-training for Improving Healthcare Time-series Representation Learning, MLHC 2024",
	config,
	learningRate: 1e-2,
	presets: layeredPresets(128),
	pretraining: {
		predicts: { next: "next", previous: "previous" },
		views(settings, p, window) {
			const { forwards, backwards } = alternating(settings, p, embedded(p, window), window);
			return { next: forwards, previous: backwards };
		},
	},
	forecasts: "after fine-tuning",
	usesQueryTime: false,
	weights: (settings) => ({ ...alternatingWeights(settings), ...forecastWeights(settings) }),
	encode: (settings, p, window) => alternating(settings, p, embedded(p, window), window).backwards,
	query: (_, p, encoded, { mask }) => forecast(p, encoded, mask),
});
