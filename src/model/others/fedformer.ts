/*
 * FEDformer (Zhou et al., ICML 2022), the Fourier variant: Autoformer's encoder and decoder, with a few modes of the
 * Fourier transform F in place of delays.
 *
 *     Fourier block       F⁻¹(Pad(F(x W)_m R_m))              at most 32 modes m, drawn once; R_m complex, per head
 *     Fourier attention   F⁻¹(Pad(softmax(|Q̃ K̃ᵀ| / √size) Ṽ))  Q̃, K̃, Ṽ: the kept modes of q, k, v, per head
 *     trend               Σ_n softmax(L(x))_n · average_n(x)   moving averages of 7, 13 and 25 positions
 *     decoder             T ← T + W_1 T_1 + W_2 T_2 + W_3 T_3  output W_S x + T
 */

import { z } from "zod";
import { random } from "../../base/random.js";
import {
	add,
	concat,
	expand,
	filled,
	matmul,
	mul,
	neg,
	reshape,
	slice,
	softmax,
	split,
	sqrt,
	square,
	sub,
	sum,
	type Tensor,
	transpose,
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
	fourier,
	inverseFourier,
	meanOverEvents,
	paddedAverages,
	type Spectrum,
	seasonalNorm,
} from "../nn/series.js";
import { nested, normal, numbered, type WeightSpecs, type Weights, within } from "../nn/weights.js";

const config = z
	.strictObject({
		...encoderDecoderFields,
		modes: z
			.int()
			.min(1)
			.max(4096)
			.default(32)
			.describe("Fourier modes that are kept, drawn once; at most half of the places"),
		draw: z.int().min(0).default(1).describe("seed of the draw of modes"),
		averages: z
			.array(z.int().min(1).max(4096))
			.min(1)
			.max(16)
			.default([7, 13, 25])
			.describe("places of the moving averages that are mixed into the trend"),
	})
	.refine(headsDivide.check, headsDivide.say);

type FedformerConfig = z.infer<typeof config>;

/** At most so many of the modes below half the length, drawn at random and in order: always the same. */
export function drawnModes(length: number, count: number, seed: number): number[] {
	const all = Array.from({ length: Math.max(1, Math.floor(length / 2)) }, (_, m) => m);
	return random(seed)
		.fork(length)
		.shuffle(all)
		.slice(0, count)
		.sort((a, b) => a - b);
}

/** A complex matrix for every mode and head. */
function fourierBlockWeights(modes: number, heads: number, dim: number): WeightSpecs {
	const size = dim / heads;
	const part = normal([modes, heads, size, size], 1 / Math.sqrt(2 * size));
	return { real: part, imaginary: part };
}

/**
 * F⁻¹(F(x)_m R_m): the modes of x that are kept, each times its own complex matrix a head, back in their
 * own places; all other modes are 0. x [rows, places, dim]
 */
export function fourierBlock(p: Weights, x: Tensor, modes: readonly number[]): Tensor {
	const [rows, places, dim] = x.shape as [number, number, number];
	const [real, imaginary] = [p("real"), p("imaginary")];
	const [count, heads, size] = real.shape as [number, number, number];
	const found = fourier(x, modes);
	/** [modes, heads, rows, size]: each mode and head has a matrix of its own. */
	const apart = (part: Tensor) =>
		transpose(reshape(part, [rows, count, heads, size]), [1, 2, 0, 3]);
	// (a + b i)(R + S i): [a, b] times [[R, S], [−S, R]].
	const matrix = concat([concat([real, imaginary], 3), concat([neg(imaginary), real], 3)], 2);
	const both = concat([apart(found.real), apart(found.imaginary)], 3);
	const product = transpose(matmul(both, matrix), [2, 0, 1, 3]); // [rows, modes, heads, 2 · size]
	const part = (from: number) => reshape(slice(product, 3, from, from + size), [rows, count, dim]);
	return inverseFourier({ real: part(0), imaginary: part(size) }, places, modes);
}

interface FourierAttentionOptions {
	readonly heads: number;
	/** Of the queries, and of the keys and values. */
	readonly modes: readonly number[];
	readonly memoryModes: readonly number[];
}

/**
 * F⁻¹(softmax(|Q̃ K̃ᵀ| / √size) Ṽ): modes of the queries look at modes of the keys. Spectra are those of
 * the unitary transform, so that the lengths of the two series do not weigh. q [rows, places, dim];
 * k, v [rows, memory places, dim]
 */
export function fourierAttention(
	q: Tensor,
	k: Tensor,
	v: Tensor,
	{ heads, modes, memoryModes }: FourierAttentionOptions,
): Tensor {
	const [rows, places, dim] = q.shape as [number, number, number];
	const size = dim / heads;
	/** [rows, heads, modes, size] */
	const apart = (x: Tensor) =>
		transpose(reshape(x, [rows, x.shape[1] as number, heads, size]), [0, 2, 1, 3]);
	const spectrum = (x: Tensor, of: readonly number[]): Spectrum => {
		const { real, imaginary } = fourier(mul(x, 1 / Math.sqrt(x.shape[1] as number)), of);
		return { real: apart(real), imaginary: apart(imaginary) };
	};
	const [Q, K, V] = [spectrum(q, modes), spectrum(k, memoryModes), spectrum(v, memoryModes)];

	// Re and Im of Q Kᵀ, one below the other: [a, −b] and [b, a] times [c, d].
	const queries = concat(
		[concat([Q.real, neg(Q.imaginary)], 3), concat([Q.imaginary, Q.real], 3)],
		2,
	);
	const products = matmul(queries, concat([K.real, K.imaginary], 3), { transposeB: true });
	const [real, imaginary] = split(products, 2, [modes.length, modes.length]) as [Tensor, Tensor];
	const sizes = sqrt(add(add(square(real), square(imaginary)), 1e-9)); // [rows, heads, modes, memory modes]
	const seen = matmul(softmax(mul(sizes, 1 / Math.sqrt(size))), concat([V.real, V.imaginary], 3)); // [rows, heads, modes, 2 · size]
	const whole = (from: number) =>
		reshape(transpose(slice(seen, 3, from, from + size), [0, 2, 1, 3]), [rows, -1, dim]);
	const back = inverseFourier({ real: whole(0), imaginary: whole(size) }, places, modes);
	return mul(back, Math.sqrt(places));
}

const mixtureWeights = (dim: number, experts: number): WeightSpecs => linearWeights(dim, experts);

/** Moving averages of several widths, one below the other. */
export const mixedAverages = (mask: Tensor, widths: readonly number[]): Tensor =>
	concat(
		widths.map((width) => paddedAverages(mask, width)),
		1,
	); // [rows, experts · places, places]

/**
 * The trend of x [rows, places, dim] is a mixture of its moving averages, weighed at each place by what x
 * is there: softmax(L(x)) · averages(x). What is left is seasonal.
 */
export function decomposeMixed(
	p: Weights,
	x: Tensor,
	averages: Tensor,
): { readonly seasonal: Tensor; readonly trend: Tensor } {
	const [rows, places, dim] = x.shape as [number, number, number];
	const experts = (averages.shape[1] as number) / places;
	const weights = transpose(softmax(linear(p, x)), [0, 2, 1]); // [rows, experts, places]
	const all = reshape(matmul(averages, x), [rows, experts, places, dim]);
	const trend = sum(mul(all, reshape(weights, [rows, experts, places, 1])), 1);
	return { seasonal: sub(x, trend), trend };
}

/** The window's last places, with which the decoder begins. */
const startOf = ({ start, window }: FedformerConfig) => Math.min(start, window);

/** The modes that are kept of the window, and of what the decoder reads. */
const windowModes = ({ window, modes, draw }: FedformerConfig) => drawnModes(window, modes, draw);
const decoderModes = (config: FedformerConfig) =>
	drawnModes(startOf(config) + config.ahead, config.modes, config.draw);

function weights(config: FedformerConfig): WeightSpecs {
	const { layers, decoderLayers, heads, dim, ff } = config;
	const mixture = mixtureWeights(dim, config.averages.length);
	const layer = (modes: readonly number[]) => ({
		...nested("self.query", linearWeights(dim, dim)),
		...nested("self.modes", fourierBlockWeights(modes.length, heads, dim)),
		...nested("self.out", linearWeights(dim, dim)),
		...nested("self.mixture", mixture),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForward.mixture", mixture),
	});
	const further = {
		...nested("cross", attentionWeights(dim)),
		...nested("cross.mixture", mixture),
		...nested("trend", linearWeights(3 * dim, dim, { bias: false })),
	};
	return {
		...nested("encoder.times", linearWeights(marks, dim, { bias: false })),
		...numbered("encoder.layers", layers, layer(windowModes(config))),
		...nested("encoder.norm", normWeights(dim)),
		...nested("views.norm", normWeights(dim)),
		...nested("decoder.times", linearWeights(marks, dim, { bias: false })),
		...nested("decoder.mixture", mixture),
		...numbered("decoder.layers", decoderLayers, { ...layer(decoderModes(config)), ...further }),
		...nested("decoder.norm", normWeights(dim)),
		...nested("decoder.out", linearWeights(dim, dim)),
	};
}

/** A sequence and its mask. */
interface Places {
	readonly x: Tensor; // [rows, places, dim]
	readonly mask: Tensor; // [rows, places]
}

/** x W + b, and 0 at padding. */
const part = (p: Weights, { x, mask }: Places): Tensor => mul(linear(p, x), column(mask));

function enhanced(p: Weights, own: Places, modes: readonly number[]): Tensor {
	const y = fourierBlock(within(p, "modes"), part(within(p, "query"), own), modes);
	return linear(within(p, "out"), y);
}

/** A series that was taken apart. */
interface Series {
	readonly seasonal: Tensor; // [rows, places, dim]
	readonly trend: Tensor; // [rows, places, dim]
}

/** What is seasonal goes from sub-layer to sub-layer; the trends that are taken off are laid by. */
function progress(seasonal: Tensor, averages: Tensor) {
	const trends: Tensor[] = [];
	let now = seasonal;
	return {
		trends,
		seasonal: () => now,
		after(p: Weights, sublayer: Tensor) {
			const parts = decomposeMixed(within(p, "mixture"), add(now, sublayer), averages);
			now = parts.seasonal;
			trends.push(parts.trend);
		},
	};
}

function encoder(config: FedformerConfig, p: Weights, window: Window): Series {
	const own = within(p, "encoder");
	const { mask } = window;
	const modes = windowModes(config);
	const first = add(embedded(p, window), project(within(own, "times"), marksBefore(window)));
	const series = progress(first, mixedAverages(mask, config.averages));
	for (let i = 0; i < config.layers; i++) {
		const [self, forward] = ["self", "feedForward"].map((name) =>
			within(own, `layers.${i}.${name}`),
		) as [Weights, Weights];
		series.after(self, enhanced(self, { x: series.seasonal(), mask }, modes));
		series.after(forward, feedForward(forward, series.seasonal()));
	}
	return { seasonal: series.seasonal(), trend: series.trends.reduce(add) };
}

/**
 * The hidden state of each query: the seasonal part of what follows the window, and its trend,
 * which grows from layer to layer.
 */
function decoder(
	config: FedformerConfig,
	p: Weights,
	encoded: Series,
	window: Window,
	queries: Queries,
): Tensor {
	const own = within(p, "decoder");
	const { window: places, ahead, dim, heads } = config;
	const rows = window.mask.shape[0] as number;
	const { dtype } = window.mask;
	const decoderInput = (t: Tensor, rest: Tensor) =>
		concat([slice(t, 1, places - startOf(config)), rest], 1);

	const codes = embedded(p, window);
	const first = decomposeMixed(
		within(own, "mixture"),
		codes,
		mixedAverages(window.mask, config.averages),
	);
	const mask = decoderInput(window.mask, filled(1, [rows, ahead], dtype));
	let trend = decoderInput(
		first.trend,
		expand(meanOverEvents(codes, window.mask), [rows, ahead, dim]),
	);
	let seasonal = add(
		decoderInput(first.seasonal, filled(0, [rows, ahead, dim], dtype)),
		project(within(own, "times"), decoderInput(marksBefore(window), marksAfter(queries))),
	);

	const memory: Places = {
		x: seasonalNorm(within(p, "encoder.norm"), encoded.seasonal, window.mask),
		mask: window.mask,
	};
	const [modes, memoryModes] = [decoderModes(config), windowModes(config)];
	const averages = mixedAverages(mask, config.averages);
	for (let i = 0; i < config.decoderLayers; i++) {
		const q = within(own, `layers.${i}`);
		const [self, cross, forward] = ["self", "cross", "feedForward"].map((name) =>
			within(q, name),
		) as [Weights, Weights, Weights];
		const series = progress(seasonal, averages);
		series.after(self, enhanced(self, { x: seasonal, mask }, modes));
		const looked = fourierAttention(
			part(within(cross, "query"), { x: series.seasonal(), mask }),
			part(within(cross, "key"), memory),
			part(within(cross, "value"), memory),
			{ heads, modes, memoryModes },
		);
		series.after(cross, linear(within(cross, "out"), looked));
		series.after(forward, feedForward(forward, series.seasonal()));
		seasonal = series.seasonal();
		trend = add(trend, project(within(q, "trend"), concat(series.trends, -1)));
	}
	const out = linear(within(own, "out"), seasonalNorm(within(own, "norm"), seasonal, mask));
	return slice(add(out, trend), 1, -ahead);
}

/** Trend and season apart in every layer; what is seasonal is worked on in a few modes of its Fourier transform. */
export const fedformer = encoderDecoderModel({
	id: "fedformer",
	name: "FEDformer",
	cite: "Zhou, Ma, Wen, Wang, Sun, Jin: FEDformer: Frequency Enhanced Decomposed Transformer for Long-term Series Forecasting, ICML 2022",
	config,
	weights,
	encoder,
	views: (p, { seasonal, trend }) => norm(within(p, "views.norm"), add(seasonal, trend)),
	// It looks at what is seasonal alone.
	decoder,
});
