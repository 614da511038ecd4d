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
import { concat, type Tensor } from "../../engine/tensor/index.js";
import { decomposed, type Places } from "../kinds/decomposed.js";
import { headsDivide, integer, modelSettings } from "../kinds/fields.js";
import { encoderDecoderFields, encoderDecoderModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

const config = modelSettings({
	...encoderDecoderFields,
	modes: integer(
		1,
		4096,
		32,
		"Fourier modes that are kept, drawn once; at most half of the places",
	),
	draw: z.int().min(0).default(1).describe("seed of the draw of modes"),
	averages: z
		.array(z.int().min(1).max(4096))
		.min(1)
		.max(16)
		.default([7, 13, 25])
		.describe("places of the moving averages that are mixed into the trend"),
}).refine(headsDivide.check, headsDivide.say);

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
function fourierBlockWeights(modes: number, heads: number, dim: number): nn.WeightSpecs {
	const size = dim / heads;
	const part = nn.normal([modes, heads, size, size], 1 / Math.sqrt(2 * size));
	return { real: part, imaginary: part };
}

/**
 * F⁻¹(F(x)_m R_m): the modes of x that are kept, each times its own complex matrix a head, back in their
 * own places; all other modes are 0. x [rows, places, dim]
 */
export function fourierBlock(p: nn.Weights, x: Tensor, modes: readonly number[]): Tensor {
	const [rows, places, dim] = x.shape as [number, number, number];
	const [real, imaginary] = [p("real"), p("imaginary")];
	const [count, heads, size] = real.shape as [number, number, number];
	const spectrum = nn.fourier(x, modes);
	/** [modes, heads, rows, size]: each mode and head has a matrix of its own. */
	const apart = (part: Tensor) => part.reshape([rows, count, heads, size]).transpose([1, 2, 0, 3]);
	// (a + b i)(R + S i): [a, b] times [[R, S], [−S, R]].
	const matrix = concat([concat([real, imaginary], 3), concat([imaginary.neg(), real], 3)], 2);
	const both = concat([apart(spectrum.real), apart(spectrum.imaginary)], 3);
	const product = both.matmul(matrix).transpose([2, 0, 1, 3]); // [rows, modes, heads, 2 · size]
	const part = (from: number) => product.slice(3, from, from + size).reshape([rows, count, dim]);
	return nn.inverseFourier({ real: part(0), imaginary: part(size) }, places, modes);
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
		x.reshape([rows, x.shape[1] as number, heads, size]).transpose([0, 2, 1, 3]);
	const spectrum = (x: Tensor, of: readonly number[]): nn.Spectrum => {
		const { real, imaginary } = nn.fourier(x.mul(1 / Math.sqrt(x.shape[1] as number)), of);
		return { real: apart(real), imaginary: apart(imaginary) };
	};
	const [Q, K, V] = [spectrum(q, modes), spectrum(k, memoryModes), spectrum(v, memoryModes)];

	// Re and Im of Q Kᵀ, one below the other: [a, −b] and [b, a] times [c, d].
	const queries = concat(
		[concat([Q.real, Q.imaginary.neg()], 3), concat([Q.imaginary, Q.real], 3)],
		2,
	);
	const products = queries.matmul(concat([K.real, K.imaginary], 3), { transposeB: true });
	const [real, imaginary] = products.split(2, [modes.length, modes.length]) as [Tensor, Tensor];
	const sizes = real.square().add(imaginary.square()).add(1e-9).sqrt(); // [rows, heads, modes, memory modes]
	const seen = sizes
		.mul(1 / Math.sqrt(size))
		.softmax()
		.matmul(concat([V.real, V.imaginary], 3)); // [rows, heads, modes, 2 · size]
	const whole = (from: number) =>
		seen
			.slice(3, from, from + size)
			.transpose([0, 2, 1, 3])
			.reshape([rows, -1, dim]);
	const back = nn.inverseFourier({ real: whole(0), imaginary: whole(size) }, places, modes);
	return back.mul(Math.sqrt(places));
}

/** Moving averages of several widths, one below the other. */
export const mixedAverages = (mask: Tensor, widths: readonly number[]): Tensor =>
	concat(
		widths.map((width) => nn.paddedAverages(mask, width)),
		1,
	); // [rows, experts · places, places]

/**
 * The trend of x [rows, places, dim] is a mixture of its moving averages, weighed at each place by what x
 * is there: softmax(L(x)) · averages(x). What is left is seasonal.
 */
export function decomposeMixed(p: nn.Weights, x: Tensor, averages: Tensor): nn.Decomposed {
	const [rows, places, dim] = x.shape as [number, number, number];
	const experts = (averages.shape[1] as number) / places;
	const weights = nn.linear(p, "mixture", x).softmax().transpose([0, 2, 1]); // [rows, experts, places]
	const all = averages.matmul(x).reshape([rows, experts, places, dim]);
	const trend = all.mul(weights.reshape([rows, experts, places, 1])).sum(1);
	return { seasonal: x.sub(trend), trend };
}

/** The modes that are kept of a series. */
const modesOf = ({ modes, draw }: FedformerConfig, x: Tensor) =>
	drawnModes(x.shape[1] as number, modes, draw);

/** x W + b, and 0 at padding. */
const part = (p: nn.Weights, name: string, { x, mask }: Places): Tensor =>
	nn.linear(p, name, x).mul(nn.column(mask));

const network = decomposed<FedformerConfig>({
	selfWeights: ({ heads, dim, modes, draw }, places) => ({
		...nn.nested("query", nn.linearWeights(dim, dim)),
		...nn.nested("modes", fourierBlockWeights(drawnModes(places, modes, draw).length, heads, dim)),
		...nn.nested("out", nn.linearWeights(dim, dim)),
	}),
	crossWeights: ({ dim }) => nn.attentionWeights(dim),
	mixtureWeights: ({ dim, averages }) => nn.linearWeights(dim, averages.length),
	self(config, p, places) {
		const queries = part(p, "query", places);
		const y = fourierBlock(nn.within(p, "modes"), queries, modesOf(config, places.x));
		return nn.linear(p, "out", y);
	},
	memory: (encoded) => encoded,
	cross(config, p, places, memory) {
		const y = fourierAttention(
			part(p, "query", places),
			part(p, "key", memory),
			part(p, "value", memory),
			{
				heads: config.heads,
				modes: modesOf(config, places.x),
				memoryModes: modesOf(config, memory.x),
			},
		);
		return nn.linear(p, "out", y);
	},
	decomposition(config, mask) {
		const averages = mixedAverages(mask, config.averages);
		return (p, x) => decomposeMixed(p, x, averages);
	},
});

/** Trend and season apart in every layer; what is seasonal is worked on in a few modes of its Fourier transform. */
export const fedformer = encoderDecoderModel({
	id: "fedformer",
	name: "FEDformer",
	cite: "Zhou, Ma, Wen, Wang, Sun, Jin: FEDformer: Frequency Enhanced Decomposed Transformer for Long-term Series Forecasting, ICML 2022",
	config,
	...network,
});
