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

import type { z } from "zod";
import { placeAdd, type Tensor, topK } from "../../engine/tensor/index.js";
import { decomposed, type Places } from "../kinds/decomposed.js";
import { headsDivide, integer, modelSettings, positive } from "../kinds/fields.js";
import { encoderDecoderFields, encoderDecoderModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

export const config = modelSettings({
	...encoderDecoderFields,
	factor: positive(1000, 3, "c: of n places, c ln n delays are added up"),
	average: integer(1, 4096, 25, "places of the moving average that is taken for the trend"),
}).refine(headsDivide.check, headsDivide.say);

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
	const { real, imaginary } = nn.timesConjugate(nn.fourier(q), nn.fourier(k)); // [rows, modes, width]
	const perHead = (x: Tensor) => x.reshape([rows, x.shape[1] as number, heads, -1]).mean(3);
	return nn.inverseFourier({ real: perHead(real), imaginary: perHead(imaginary) }, places); // [rows, places, heads]
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
	const weights = placeAdd(values.softmax(1), indices, 1, places); // [rows, places, heads]: by delay
	// A weighted sum of rolls is a correlation too: it is done in the same way.
	const perHead = ({ real, imaginary }: nn.Spectrum): nn.Spectrum => {
		const shape = [rows, real.shape[1] as number, heads, -1];
		return { real: real.reshape(shape), imaginary: imaginary.reshape(shape) };
	};
	const rolled = nn.timesConjugate(perHead(nn.fourier(v)), perHead(nn.fourier(weights)));
	const whole = (x: Tensor) => x.reshape([rows, -1, width]);
	return nn.inverseFourier(
		{ real: whole(rolled.real), imaginary: whole(rolled.imaginary) },
		places,
	);
}

/** Auto-correlation of queries from x with keys and values from a memory of as many places. */
function correlated(
	{ heads, factor }: AutoformerConfig,
	p: nn.Weights,
	queries: Places,
	memory: Places,
): Tensor {
	const part = (name: string, { x, mask }: Places) => nn.linear(p, name, x).mul(nn.column(mask));
	const y = autoCorrelation(part("query", queries), part("key", memory), part("value", memory), {
		heads,
		factor,
	});
	return nn.linear(p, "out", y);
}

/** The last places of a memory, or zeros after it: as many as asked for. */
function resized(x: Tensor, places: number): Tensor {
	const known = x.shape[1] as number;
	return known > places ? x.slice(1, known - places) : x.pad(1, 0, places - known);
}

const network = decomposed<AutoformerConfig>({
	selfWeights: ({ dim }) => nn.attentionWeights(dim),
	crossWeights: ({ dim }) => nn.attentionWeights(dim),
	mixtureWeights: () => ({}),
	self: (config, p, places) => correlated(config, p, places, places),
	memory: ({ x, mask }, places) => ({ x: resized(x, places), mask: resized(mask, places) }),
	cross: correlated,
	decomposition(config, mask) {
		const average = nn.paddedAverages(mask, config.average);
		return (_, x) => nn.decompose(x, average);
	},
});

export const { weights, encoder, decoder } = network;

/** Trend and season apart in every layer; delays at which the series fits itself in place of attention. */
export const autoformer = encoderDecoderModel({
	id: "autoformer",
	name: "Autoformer",
	cite: "Wu, Xu, Wang, Long: Autoformer: Decomposition Transformers with Auto-Correlation for Long-Term Series Forecasting, NeurIPS 2021",
	config,
	...network,
});
