/*
 * Autoformer (Wu et al., NeurIPS 2021).
 *
 *     R(τ)     = Σ_t q_(t+τ) k_t = F⁻¹(F(q) · conj F(k))               around the end
 *     out_t    = Σ_i softmax(R(τ_1) … R(τ_k))_i v_(t+τ_i)              the k = ⌊c ln L⌋ delays of largest R
 *     trend    = moving average of 25 positions, the ends repeated     seasonal = x − trend
 *     encoder:   S ← seasonal(S + AutoCorrelation(S))      S ← seasonal(S + FeedForward(S))
 *     decoder:   each of self, cross and feed-forward splits off a trend T_j
 *                T ← T + W_1 T_1 + W_2 T_2 + W_3 T_3       output W_S S + T
 *
 * The decoder begins with the last `start` positions: their seasonal part and zeros, their trend and the window's mean.
 */

import { z } from "zod";
import {
	add,
	concat,
	expand,
	filled,
	mean,
	mul,
	pad,
	placeAdd,
	reshape,
	slice,
	softmax,
	type Tensor,
	topK,
} from "../../engine/tensor/index.js";
import { headsDivide } from "../kinds/fields.js";
import type { Queries } from "../kinds/observed.js";
import {
	embedded,
	encoderDecoderFields,
	encoderDecoderModel,
	type Window,
} from "../kinds/window.js";
import { attentionWeights } from "../nn/attention.js";
import {
	feedForward,
	feedForwardWeights,
	linear,
	linearWeights,
	norm,
	normWeights,
	project,
} from "../nn/layers.js";
import { marks, marksAfter, marksBefore } from "../nn/positions.js";
import {
	column,
	decompose,
	fourier,
	inverseFourier,
	meanOverEvents,
	paddedAverages,
	type Spectrum,
	seasonalNorm,
	timesConjugate,
} from "../nn/series.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../nn/weights.js";

export const config = z
	.strictObject({
		...encoderDecoderFields,
		factor: z
			.number()
			.positive()
			.max(1000)
			.default(3)
			.describe("c: of n places, c ln n delays are added up"),
		average: z
			.int()
			.min(1)
			.max(4096)
			.default(25)
			.describe("places of the moving average that is taken for the trend"),
	})
	.refine(headsDivide.check, headsDivide.say);

type AutoformerConfig = z.infer<typeof config>;

/** ⌊c ln n⌋ delays of a series of n places, at least one. */
export const delaysOf = (places: number, factor: number): number =>
	Math.min(places, Math.max(1, Math.floor(factor * Math.log(places))));

interface AutoCorrelationOptions {
	readonly heads: number;
	/** c: how many delays are taken. */
	readonly factor: number;
}

/**
 * How well each head's keys fit its queries at each delay τ, Σ_t q_(t + τ) k_t around the end, by the
 * product of their spectra; the mean over the head's channels.
 */
export function correlation(q: Tensor, k: Tensor, heads: number): Tensor {
	const [rows, places] = q.shape as [number, number];
	const { real, imaginary } = timesConjugate(fourier(q), fourier(k)); // [rows, modes, width]
	const perHead = (x: Tensor) => mean(reshape(x, [rows, x.shape[1] as number, heads, -1]), 3);
	return inverseFourier({ real: perHead(real), imaginary: perHead(imaginary) }, places); // [rows, places, heads]
}

/**
 * In place of attention: each head takes the delays at which queries and keys fit best, and adds up the
 * values rolled forward by each, Σ_i softmax(R)_i v_(t + τ_i). q, k and v are [rows, places, width] and 0
 * at padding.
 */
export function autoCorrelation(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ heads, factor }: AutoCorrelationOptions,
): Tensor {
	const [rows, places, width] = v.shape as [number, number, number];
	const { values, indices } = topK(correlation(q, k, heads), delaysOf(places, factor), 1);
	const weights = placeAdd(softmax(values, 1), indices, 1, places); // [rows, places, heads]: by delay
	// A weighted sum of rolls is a correlation too: it is done in the same way.
	const perHead = ({ real, imaginary }: Spectrum): Spectrum => {
		const shape = [rows, real.shape[1] as number, heads, -1];
		return { real: reshape(real, shape), imaginary: reshape(imaginary, shape) };
	};
	const rolled = timesConjugate(perHead(fourier(v)), perHead(fourier(weights)));
	const whole = (x: Tensor) => reshape(x, [rows, -1, width]);
	return inverseFourier({ real: whole(rolled.real), imaginary: whole(rolled.imaginary) }, places);
}

export function weights({ layers, decoderLayers, dim, ff }: AutoformerConfig): WeightSpecs {
	const layer = {
		...nested("self", attentionWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
	};
	const further = {
		...nested("cross", attentionWeights(dim)),
		...nested("trend", linearWeights(3 * dim, dim, { bias: false })),
	};
	return {
		...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("encoder.layers", layers, layer),
		...nested("encoder.norm", normWeights(dim)),
		...nested("views.norm", normWeights(dim)),
		...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("decoder.layers", decoderLayers, { ...layer, ...further }),
		...nested("decoder.norm", normWeights(dim)),
		...nested("decoder.out", linearWeights(dim, dim)),
	};
}

/** A decomposed series and its mask. */
interface Series {
	readonly seasonal: Tensor; // [rows, places, dim]
	readonly trend: Tensor; // [rows, places, dim]
	readonly mask: Tensor; // [rows, places]
}

/** Auto-correlation of queries from x with keys and values from a memory of as many places. */
function correlated(
	{ heads, factor }: AutoformerConfig,
	p: Weights,
	own: { readonly x: Tensor; readonly mask: Tensor },
	memory = own,
): Tensor {
	const part = (name: string, { x, mask }: typeof own) =>
		mul(linear(within(p, name), x), column(mask));
	const y = autoCorrelation(part("query", own), part("key", memory), part("value", memory), {
		heads,
		factor,
	});
	return linear(within(p, "out"), y);
}

/** After each sub-layer the trend is taken off and laid by; what is seasonal goes on. */
export function encoder(config: AutoformerConfig, p: Weights, window: Window): Series {
	const own = within(p, "encoder");
	const { mask } = window;
	const average = paddedAverages(mask, config.average);
	let seasonal = add(embedded(p, window), project(within(own, "times"), marksBefore(window)));
	const trends: Tensor[] = [];
	const part = (sublayer: Tensor) => {
		const parts = decompose(add(seasonal, sublayer), average);
		seasonal = parts.seasonal;
		trends.push(parts.trend);
	};
	for (let i = 0; i < config.layers; i++) {
		const q = within(own, `layers.${i}`);
		part(correlated(config, within(q, "self"), { x: seasonal, mask }));
		part(feedForward(within(q, "feedForward"), seasonal));
	}
	return { seasonal, trend: trends.reduce(add), mask };
}

/** The last places of a memory, or zeros after it: as many as asked for. */
function resized(x: Tensor, places: number): Tensor {
	const known = x.shape[1] as number;
	return known > places ? slice(x, 1, known - places) : pad(x, 1, 0, places - known);
}

/** The hidden state of each query: the seasonal part of what follows the window, and its trend, which grows from layer to layer. */
export function decoder(
	config: AutoformerConfig,
	p: Weights,
	encoded: Series,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const start = Math.min(config.start, places);
	const decoderInput = (t: Tensor, rest: Tensor) => concat([slice(t, 1, places - start), rest], 1);

	const codes = embedded(p, window);
	const first = decompose(codes, paddedAverages(window.mask, config.average));
	const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
	const level = expand(meanOverEvents(codes, window.mask), [rows, ahead, dim]);
	let trend = decoderInput(first.trend, level);
	let seasonal = add(
		decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)),
		project(within(own, "times"), decoderInput(marksBefore(window), marksAfter(queries))),
	);

	const memory = {
		x: resized(
			seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, encoded.mask),
			start + ahead,
		),
		mask: resized(encoded.mask, start + ahead),
	};
	const average = paddedAverages(mask, config.average);
	for (let i = 0; i < config.decoderLayers; i++) {
		const q = within(own, `layers.${i}`);
		const trends: Tensor[] = [];
		const part = (sublayer: Tensor) => {
			const parts = decompose(add(seasonal, sublayer), average);
			seasonal = parts.seasonal;
			trends.push(parts.trend);
		};
		part(correlated(config, within(q, "self"), { x: seasonal, mask }));
		part(correlated(config, within(q, "cross"), { x: seasonal, mask }, memory));
		part(feedForward(within(q, "feedForward"), seasonal));
		trend = add(trend, project(within(q, "trend"), concat(trends, -1)));
	}
	const out = linear(within(own, "out"), seasonalNorm(within(own, "norm"), seasonal, mask));
	return slice(add(out, trend), 1, -ahead);
}

/** Trend and season apart in every layer; delays at which the series fits itself in place of attention. */
export const autoformer = encoderDecoderModel({
	id: "autoformer",
	name: "Autoformer",
	cite: "Wu, Xu, Wang, Long: Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series Forecasting, NeurIPS 2021",
	config,
	weights,
	encoder,
	views: (p, { seasonal, trend }) => norm(within(p, "views.norm"), add(seasonal, trend)),
	// It looks at what is seasonal alone.
	decoder,
});
