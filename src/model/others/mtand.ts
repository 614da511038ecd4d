/*
 * mTAND (Shukla & Marlin, ICLR 2021). Every time has a learned vector φ; attention between times maps values to other times:
 *
 *     φ(t) = [ω₀ t + α₀, sin(ω₁ t + α₁), …, sin(ω_{d−1} t + α_{d−1})]
 *     κ_h(t, t_i) = softmax_i (φ(t) W_h (φ(t_i) V_h)ᵀ / √(d / H))
 *     mTAN(t) = [Σ_i κ_1(t, t_i) x_i, …, Σ_i κ_H(t, t_i) x_i] U
 *     h_k = BiGRU(mTAN_enc(r_1), …, mTAN_enc(r_K))_k      z_k = MLP(h_k)
 *     g_k = BiGRU(z_1, …, z_K)_k                          hidden(t) = MLP(mTAN_dec(t; g at r_1, …, r_K))
 *
 * over K reference points r.
 */

import type { z } from "zod";
import { yearDays } from "../../base/time.js";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { fields, integer, modelSettings } from "../kinds/fields.js";
import { embedded, type Window, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

const ways = ["onward", "back"] as const;

export const bidirectionalGruWeights = (inside: number, width: number): nn.WeightSpecs =>
	Object.assign({}, ...ways.map((way) => nn.nested(way, nn.gruWeights(inside, width))));

/** Two GRUs over the places, one from each end: their states at each place, [rows, places, 2 width]. */
export function bidirectionalGru(p: nn.Weights, x: Tensor, width: number): Tensor {
	const [rows, places, inside] = x.shape as [number, number, number];
	// Side by side in one recurrence: half as many operations, each twice as large.
	const made = new Map<string, Tensor>();
	const both: nn.Weights = (name) => {
		const joint = made.get(name) ?? sideBySide(ways.map((way) => p(`${way}.${name}`)));
		made.set(name, joint);
		return joint;
	};
	const inputs = graph.stack([x, x.flip(1)], 0).reshape([2, rows * places, inside]);
	const { outputs } = graph.scan(
		(state: Tensor, [fromInput]) => {
			const next = nn.gruStep(both, state, fromInput);
			return [next, next];
		},
		graph.filled(0, [2, rows, width], x.dtype),
		[nn.gruInput(both, inputs).reshape([2, rows, places, -1])],
		{ axis: 2 },
	); // [2, rows, places, width]
	const way = (i: number) => outputs.slice(0, i, i + 1).reshape([rows, places, width]);
	return graph.concat([way(0), way(1).flip(1)], -1);
}

/** Matrices [2, …, …]; vectors [2, 1, …], as they are added to rows. */
function sideBySide(weights: readonly Tensor[]): Tensor {
	const both = graph.stack(weights, 0);
	return both.shape.length === 2 ? both.reshape([2, 1, -1]) : both;
}

/** Radians a year of the slowest wave and of the fastest at the start: periods of 50 years and of 30 days. */
const [slowest, fastest] = [(2 * Math.PI) / 50, (2 * Math.PI * yearDays) / 30];

const rates = (count: number): nn.WeightSpec => ({
	shape: [count],
	draw: (random) => slowest * (fastest / slowest) ** random.uniform(),
});

export const timeVectorWeights = (width: number): nn.WeightSpecs => ({
	// Decades are not to outweigh the waves.
	...nn.nested("linear", { rate: nn.normal([1], 0.1), shift: nn.filledWith(0, [1]) }),
	...nn.nested("waves", { rate: rates(width - 1), shift: nn.uniform([width - 1], Math.PI) }),
});

/** φ(t) = [ω₀ t + α₀, sin(ω₁ t + α₁), sin(ω₂ t + α₂), …] of times in years, [rows, times, width]. */
export function timeVectors(p: nn.Weights, years: Tensor): Tensor {
	const t = years.reshape([...years.shape, 1]);
	const turned = (q: nn.Weights) => t.mul(q("rate")).add(q("shift"));
	return graph.concat([turned(nn.within(p, "linear")), turned(nn.within(p, "waves")).sin()], -1);
}

/** What is looked at, and where it stands in time. */
interface Observations {
	readonly times: Tensor; // φ, [rows, observations, time]
	readonly values: Tensor; // [rows, observations, width]
	/** Added to the scores, [rows, 1, 1, observations]. */
	readonly mask?: Tensor;
}

interface TimeAttentionSizes {
	readonly heads: number;
	/** Of φ. */
	readonly time: number;
	/** Of the values, and of what comes out. */
	readonly width: number;
	readonly outside: number;
}

export const timeAttentionWeights = ({
	heads,
	time,
	width,
	outside,
}: TimeAttentionSizes): nn.WeightSpecs => ({
	...nn.nested("query", nn.linearWeights(time, time)),
	...nn.nested("key", nn.linearWeights(time, time)),
	...nn.nested("out", nn.linearWeights(heads * width, outside)),
});

/**
 * Values as they are at other times: each head weighs observations by their times alone, and all
 * heads read the same values, [rows, queries, outside].
 */
export function timeAttention(
	p: nn.Weights,
	queries: Tensor, // φ, [rows, queries, time]
	{ times, values, mask }: Observations,
	heads: number,
): Tensor {
	const [rows, observations, width] = values.shape as [number, number, number];
	const q = nn.splitHeads(nn.linear(p, "query", queries), heads);
	const k = nn.splitHeads(nn.linear(p, "key", times), heads);
	const scaled = q.mul(1 / Math.sqrt(q.shape.at(-1) as number));
	const scores = scaled.matmul(k, { transposeB: true }); // [rows, heads, queries, observations]
	const seen = (mask ? scores.add(mask) : scores)
		.softmax()
		.matmul(values.reshape([rows, 1, observations, width]));
	return nn.linear(p, "out", nn.joinHeads(seen));
}

const config = modelSettings({
	heads: fields.heads(4),
	dim: fields.dim(96).describe("width of the hidden states, and of each GRU"),
	ff: fields.ff(192).describe("width inside the layers after each pair of GRUs"),
	latent: integer(1, 4096, 64, "width of what is known at a reference point"),
	time: integer(
		2,
		4096,
		64,
		"width of a time's vector: one number grows with it, the others are sines of it",
	),
	references: integer(2, 1024, 32, "reference points: the times of places chosen evenly"),
	window: fields.window,
	windows: fields.windows(2),
	ahead: fields.ahead.unwrap().default(32),
}).refine(({ time, heads }) => time % heads === 0, {
	path: ["time"],
	error: "a multiple of heads",
});

type MtandConfig = z.infer<typeof config>;

const readout = (p: nn.Weights, x: Tensor): Tensor =>
	nn.linear(p, "out", nn.linear(p, "hidden", x).relu());

/** Years from the last place on, below 0 before it. */
const yearsOf = ({ days }: Window): Tensor => days.sub(days.slice(1, -1)).mul(1 / yearDays);

/**
 * The times of evenly chosen places, in years as theirs, [rows, references]: where there are records, and
 * not in the decades between a birth and the first of them.
 */
function referenceYears({ references, window: places }: MtandConfig, window: Window): Tensor {
	const chosen = Array.from({ length: references }, (_, k) =>
		Math.round((k * (places - 1)) / (references - 1)),
	);
	return graph.gather(yearsOf(window), graph.constant(chosen, [references], "int32"), 1);
}

/** z at the reference points: what the observations are there, and then from point to point. */
function atReferences(config: MtandConfig, p: nn.Weights, window: Window): Tensor {
	const q = nn.within(p, "encoder");
	const vectors = (years: Tensor) => timeVectors(nn.within(q, "time"), years);
	const seen = timeAttention(
		nn.within(q, "attention"),
		vectors(referenceYears(config, window)),
		{
			times: vectors(yearsOf(window)),
			values: embedded(p, window),
			mask: nn.paddingMask(window.shown),
		},
		config.heads,
	); // [rows, references, dim]
	return readout(nn.within(q, "readout"), bidirectionalGru(nn.within(q, "gru"), seen, config.dim)); // [rows, references, latent]
}

/** What is known at any times, in years from the last place: from the reference points, [rows, times, dim]. */
function viewAt(config: MtandConfig, p: nn.Weights, window: Window, years: Tensor): Tensor {
	const q = nn.within(p, "decoder");
	const vectors = (t: Tensor) => timeVectors(nn.within(q, "time"), t);
	const points = {
		times: vectors(referenceYears(config, window)),
		values: bidirectionalGru(nn.within(q, "gru"), atReferences(config, p, window), config.dim),
	};
	const seen = timeAttention(nn.within(q, "attention"), vectors(years), points, config.heads);
	return readout(nn.within(q, "readout"), seen);
}

/** Observations are carried to reference points and from there to any time by attention between times. */
export const mtand = windowModel<MtandConfig>({
	id: "mtand",
	name: "mTAND",
	cite: "Shukla, Marlin: Multi-Time Attention Networks for Irregularly Sampled Time Series, 2021",
	config,
	learningRate: 1e-3,
	presets: {
		tiny: { dim: 64, ff: 128, latent: 32 },
		default: {},
		paper: { dim: 200, ff: 400, latent: 200, time: 200 },
	},
	pretraining: "none",
	forecasts: "after pretraining",
	usesQueryTime: true,
	weights({ heads, dim, ff, latent, time }) {
		const readout = (outside: number) => ({
			...nn.nested("hidden", nn.linearWeights(2 * dim, ff)),
			...nn.nested("out", nn.linearWeights(ff, outside)),
		});
		const encoder = {
			...nn.nested("time", timeVectorWeights(time)),
			...nn.nested("attention", timeAttentionWeights({ heads, time, width: dim, outside: dim })),
			...nn.nested("gru", bidirectionalGruWeights(dim, dim)),
			...nn.nested("readout", readout(latent)),
		};
		const decoder = {
			...nn.nested("time", timeVectorWeights(time)),
			...nn.nested("gru", bidirectionalGruWeights(latent, dim)),
			...nn.nested(
				"attention",
				timeAttentionWeights({ heads, time, width: 2 * dim, outside: 2 * dim }),
			),
			...nn.nested("readout", readout(dim)),
		};
		return { ...nn.nested("encoder", encoder), ...nn.nested("decoder", decoder) };
	},
	encode: (config, p, window) => viewAt(config, p, window, yearsOf(window)),
	query: (config, p, _encoded, window, { gaps }) =>
		viewAt(config, p, window, gaps.mul(1 / yearDays)),
});
