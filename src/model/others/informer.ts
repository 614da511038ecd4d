/*
 * Informer (Zhou et al., AAAI 2021).
 *
 *     ProbSparse: M_i = max_j s_ij − (Σ_j s_ij) / L, s_ij = q_i·k_j / √d, over ⌈c ln L⌉ sampled keys;
 *                 the ⌈c ln L⌉ queries of largest M attend in full, the others get the mean of V
 *                 (in the causal decoder its sum up to their position)
 *     distilling: X ← MaxPool(ELU(Conv1d(X)))              between two layers of the encoder, stride 2
 *     decoder:    reads [last `start` positions of the window; one zero per event ahead], all in one pass
 *
 * A position is the sum of its code's embedding, a sinusoid of the position and a linear map of the time.
 */

import type { z } from "zod";
import { random } from "../../base/random.js";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { type Places, startOf } from "../kinds/decomposed.js";
import { fields, headsDivide, modelSettings, positive } from "../kinds/fields.js";
import type { Queries } from "../kinds/observed.js";
import {
	embedded,
	encoderDecoderFields,
	encoderDecoderModel,
	type Window,
} from "../kinds/window.js";
import * as nn from "../nn/index.js";

export const config = modelSettings({
	...encoderDecoderFields,
	layers: fields.layers(2).describe("layers of the encoder; between two the places are halved"),
	factor: positive(
		1000,
		5,
		"c: of n places, c ln n keys are sampled and c ln n queries look for themselves",
	),
}).refine(headsDivide.check, headsDivide.say);

type InformerConfig = z.infer<typeof config>;

const hidden = -1e9;

/** c ln n of n, at least one. */
export const fewOf = (n: number, factor: number): number =>
	Math.min(n, Math.max(1, Math.ceil(factor * Math.log(n))));

/**
 * Which keys each query is measured by, [queries, keys] of 1 and 0: a draw that depends on nothing but
 * these numbers. A causal one draws from the keys up to the query's own place.
 */
export function sampledKeys(
	queries: number,
	keys: number,
	factor: number,
	causal: boolean,
): readonly number[] {
	const draw = random(0).fork(`${queries} queries of ${keys} keys`);
	const count = fewOf(keys, factor);
	return Array.from({ length: queries }, (_, query) => {
		const known = Array.from({ length: causal ? query + 1 : keys }, (_, key) => key);
		const chosen = new Set(draw.shuffle(known).slice(0, count));
		return Array.from({ length: keys }, (_, key) => Number(chosen.has(key)));
	}).flat();
}

interface ProbSparseOptions {
	/** c: how many keys are sampled, and how many queries look for themselves. */
	readonly factor: number;
	/** 1 where a query may see a key, 0 elsewhere; padding sees nothing. */
	readonly visible: Tensor; // [rows, 1, queries, keys]
	/** Whether queries see only the keys up to their own place: they then get sums rather than means. */
	readonly causal?: boolean;
}

/**
 * Softmax attention for the queries whose scores over some sampled keys stand out most,
 * M = max_j s_ij − Σ_j s_ij / L; the others get the mean of the values they may see, or their sum.
 * q, k and v are [rows, heads, places, size].
 */
export function probSparseAttention(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ factor, visible, causal = false }: ProbSparseOptions,
): Tensor {
	const [rows, heads, queries, size] = q.shape as [number, number, number, number];
	const keys = k.shape[2] as number;
	const scores = q.mul(1 / Math.sqrt(size)).matmul(k, { transposeB: true }); // [rows, heads, queries, keys]
	const count = visible.sum(-1, true).maximum(1); // [rows, 1, queries, 1]

	const sample = graph.constant(
		sampledKeys(queries, keys, factor, causal),
		[queries, keys],
		scores.dtype,
	);
	const sampled = visible.mul(sample);
	const highest = scores.add(graph.sub(1, sampled).mul(hidden)).max(-1, true);
	const measure = highest.sub(scores.mul(sampled).sum(-1, true).div(count)); // [rows, heads, queries, 1]
	const few = fewOf(queries, factor);
	const { indices } = graph.topK(measure, few, 2);
	const active = graph.placeAdd(
		graph.filled(1, [rows, heads, few, 1], scores.dtype),
		indices,
		2,
		queries,
	);

	const looks = scores.add(graph.sub(1, visible).mul(hidden)).softmax();
	const lazy = causal ? visible : visible.div(count);
	return lazy.add(active.mul(looks.sub(lazy))).matmul(v);
}

const distilWeights = (width: number): nn.WeightSpecs => ({
	weight: nn.normal([width, width, 3], 1 / Math.sqrt(3 * width)),
	bias: nn.filledWith(0, [width]),
});

const everySecond = { kernel: 3, stride: 2, padding: 1 };

/** MaxPool(ELU(Conv1d(x))): half as many places, each from the three (and their neighbours) around every second. */
export function distil(p: nn.Weights, { x, mask }: Places): Places {
	const [rows, places] = mask.shape as [number, number];
	const channelMask = mask.reshape([rows, 1, places]);
	const events = x.transpose().mul(channelMask); // [rows, width, places]
	const y = graph.elu(graph.conv1d(events, p("weight"), { bias: p("bias"), padding: 1 }));
	// ELU stays above −1: padding is never the largest.
	const known = y.mul(channelMask).add(channelMask.sub(1));
	return {
		x: graph.maxPool1d(known, everySecond).transpose(),
		mask: graph.maxPool1d(channelMask, everySecond).reshape([rows, -1]),
	};
}

export function weights({ layers, decoderLayers, dim, ff }: InformerConfig): nn.WeightSpecs {
	const layer = {
		...nn.normed("self", nn.attentionWeights(dim), dim),
		...nn.normed("feedForward", nn.feedForwardWeights(dim, ff), dim),
	};
	const cross = {
		...nn.normed("cross", nn.attentionWeights(dim), dim),
	};
	return {
		...nn.nested("encoder.times", nn.linearWeights(nn.marks, dim, { bias: false })),
		...nn.numbered("encoder.layers", layers, layer),
		...nn.numbered("encoder.distil", layers - 1, distilWeights(dim)),
		...nn.nested("encoder.norm", nn.normWeights(dim)),
		...nn.nested("views.norm", nn.normWeights(dim)),
		...nn.nested("decoder.times", nn.linearWeights(nn.marks, dim, { bias: false })),
		...nn.numbered("decoder.layers", decoderLayers, { ...layer, ...cross }),
		...nn.nested("decoder.norm", nn.normWeights(dim)),
	};
}

/** 1 where one event may see another, none of them later if it is causal: [rows, 1, places, places]. */
function visibleTo(mask: Tensor, causal: boolean): Tensor {
	const [rows, places] = mask.shape as [number, number];
	const pairs = mask.reshape([rows, 1, places, 1]).mul(mask.reshape([rows, 1, 1, places]));
	if (!causal) return pairs;
	return pairs.mul(nn.table([places, places], (i, j) => Number(j <= i), mask.dtype));
}

/** x + attention of its own places, then of those of the encoder if there are any, then the feed-forward layer; each normed. */
function layer(
	{ heads, factor }: InformerConfig,
	p: nn.Weights,
	{ x, mask }: Places,
	memory?: Places,
): Tensor {
	const part = (name: string) => nn.splitHeads(nn.linear(p, `self.${name}`, x), heads);
	const causal = memory !== undefined;
	const attended = nn.joinHeads(
		probSparseAttention(part("query"), part("key"), part("value"), {
			factor,
			causal,
			visible: visibleTo(mask, causal),
		}),
	);
	let y = nn.norm(p, "selfNorm", x.add(nn.linear(p, "self.out", attended)));
	if (memory) {
		const hidden = nn.paddingMask(memory.mask);
		const seen = nn.attention(p, "cross", y, { heads, mask: hidden, memory: memory.x });
		y = nn.norm(p, "crossNorm", y.add(seen));
	}
	return nn.norm(p, "feedForwardNorm", y.add(nn.feedForward(p, "feedForward", y)));
}

/** Code, place and time. */
const read = (p: nn.Weights, codes: Tensor, times: Tensor): Tensor =>
	codes
		.add(nn.project(p, "times", times))
		.add(nn.sinusoids(codes.shape[1] as number, codes.shape[2] as number, codes.dtype));

/** The places after each layer of the encoder, each time half as many. */
export function encoder(config: InformerConfig, p: nn.Weights, window: Window): readonly Places[] {
	const encoderWeights = nn.within(p, "encoder");
	let places: Places = {
		x: read(encoderWeights, embedded(p, window), nn.marksBefore(window)),
		mask: window.mask,
	};
	return Array.from({ length: config.layers }, (_, i) => {
		if (i > 0) places = distil(nn.within(encoderWeights, `distil.${i - 1}`), places);
		places = { ...places, x: layer(config, nn.within(encoderWeights, `layers.${i}`), places) };
		return places;
	});
}

/** A view of each place: the sum of what each layer of the encoder holds of it, halved as it may be. */
export function views(p: nn.Weights, stages: readonly Places[]): Tensor {
	const [first] = stages as [Places];
	const [rows, places, dim] = first.x.shape as [number, number, number];
	const whole = stages.map(({ x }, i) => {
		const count = x.shape[1] as number;
		const repeated = x.reshape([rows, count, 1, dim]).expand([rows, count, 2 ** i, dim]);
		return repeated.reshape([rows, count * 2 ** i, dim]).slice(1, 0, places);
	});
	return nn.norm(p, "views.norm", whole.reduce(graph.add));
}

/** The hidden state of each query; all are predicted at once, after the window's last positions. */
export function decoder(
	config: InformerConfig,
	p: nn.Weights,
	{ x, mask }: Places,
	window: Window,
	queries: Queries,
): Tensor {
	const decoderWeights = nn.within(p, "decoder");
	const { window: places, ahead, dim, decoderLayers } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const from = places - startOf(config);
	const decoderInput = (t: Tensor, rest: Tensor) => graph.concat([t.slice(1, from), rest], 1);
	const codes = decoderInput(embedded(p, window), graph.filled(0, [rows, ahead, dim], dtype));
	const times = decoderInput(nn.marksBefore(window), nn.marksAfter(queries));
	const known = decoderInput(window.mask, graph.filled(1, [rows, ahead], dtype));

	const memory = { x: nn.norm(p, "encoder.norm", x), mask };
	let y = read(decoderWeights, codes, times);
	for (const q of nn.withinEach(decoderWeights, "layers", decoderLayers))
		y = layer(config, q, { x: y, mask: known }, memory);
	return nn.norm(decoderWeights, "norm", y.slice(1, -ahead));
}

/** An encoder that lets only the most pointed queries look and halves its places from layer to layer; a decoder that answers at once. */
export const informer = encoderDecoderModel({
	id: "informer",
	name: "Informer",
	cite: "Zhou, Zhang, Peng, Zhang, Li, Xiong, Zhang: Informer: Beyond Efficient Transformer for Long Sequence Time-Series Forecasting, AAAI 2021",
	config,
	learningRates: { paper: 1e-3 },
	weights,
	encoder,
	views,
	// It looks at the encoder's last places, which are distilled.
	decoder: (config, p, stages, window, queries) =>
		decoder(config, p, stages.at(-1) as Places, window, queries),
});
