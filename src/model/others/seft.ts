/*
 * SeFT-Attn (Horn et al., ICML 2020) in its cumulative form: a history is the set of its events s_j.
 *
 *     s_j   = [e(code_j) ; τ(t_j)]                         τ(t) = [sin(t/λ_k), cos(t/λ_k)]
 *     e_ij  = Q_i · (W_i s_j) / √d_k                       Q_i learned, 0 at the start
 *     a_ij  = softmax over j of e_ij
 *     r_i   = Σ_j a_ij φ(s_j)                              i = 1 … 4 heads, each over all of φ
 *     y     = ρ([r_1 ; … ; r_4 ; τ(t') ; τ(t' − t_n)])
 *
 * After position n the set is {s_1 … s_n}: one pass computes the pools after every position.
 */

import { z } from "zod";
import { concat, gather, relu, type Tensor } from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import { fields, integer, modelSettings } from "../kinds/fields.js";
import * as nn from "../nn/index.js";

/**
 * After each place, every head's mean of the values up to and with it, weighted by the softmax of
 * its scores over just those: a function of the set of places, whatever their order.
 */
export function poolUpTo(scores: Tensor, values: Tensor): Tensor {
	const [rows, places, heads] = scores.shape as [number, number, number];
	const each = scores.transpose().reshape([rows, heads, 1, places]);
	const shares = each.add(nn.causalMask(places, scores.dtype)).softmax(); // [rows, heads, places, places]
	const pooled = shares.reshape([rows, heads * places, places]).matmul(values);
	return nn.joinHeads(pooled.reshape([rows, heads, places, -1])); // [rows, places, heads · width]
}

const config = modelSettings({
	layers: fields.layers(2).describe("hidden layers of φ, and of ρ"),
	heads: fields.heads(4).describe("ways in which a set is pooled"),
	dim: fields.dim(96).describe("width of what φ and ρ give"),
	ff: fields.ff(384).describe("width of the hidden layers"),
	key: integer(1, 4096, 64, "width of each head's keys"),
	waves: integer(1, 512, 8, "sines, and as many cosines, by which a time is told"),
	longestDays: z
		.number()
		.gt(1)
		.max(365_250)
		.default(20_000)
		.describe("scale of the slowest wave; the fastest has a day"),
});

type SeftConfig = z.infer<typeof config>;

/** What a set element is made of: its code and its time. */
const elementWidth = ({ dim, waves }: SeftConfig) => dim + 2 * waves;

/** Layers with a rectifier after each, as wide as given. */
function networkWeights(widths: readonly number[]): nn.WeightSpecs {
	return Object.assign(
		{},
		...widths.slice(1).map((outside, i) => {
			const inside = widths[i];
			return nn.nested(
				`${i}`,
				nn.linearWeights(inside, outside, { deviation: Math.sqrt(2 / inside) }),
			);
		}),
	);
}

function rectified(p: nn.Weights, x: Tensor, layers: number): Tensor {
	let y = x;
	for (let i = 0; i < layers; i++) y = relu(nn.linear(p, `${i}`, y));
	return y;
}

const encodedTime = (days: Tensor, { waves, longestDays }: SeftConfig): Tensor =>
	nn.timeEncoding(days, { width: 2 * waves, longest: longestDays });

/** Q_i · (W_i s_j) / √key for each element s_j and head i. */
function scoresOf(p: nn.Weights, elements: Tensor, { heads, key }: SeftConfig): Tensor {
	const queries = p("queries")
		.reshape([heads, 1, key])
		.mul(1 / Math.sqrt(key));
	const directions = queries.matmul(p("keys")).reshape([heads, -1]); // [heads, element]
	return elements.matmul(directions, { transposeB: true }); // [rows, places, heads]
}

/** A history as the set of its events: pooled by attention, whatever their order, and asked about a time. */
export const seft = causalModel<SeftConfig>({
	id: "seft",
	name: "SeFT",
	cite: "Horn, Moor, Bock, Rieck, Borgwardt: Set Functions for Time Series, ICML 2020",
	config,
	learningRates: { paper: 1e-3 },
	presets: {
		tiny: { layers: 1, dim: 64, ff: 256, key: 32 },
		default: {},
		paper: { layers: 4, dim: 200, ff: 400, key: 128 },
	},
	pretraining: "none",
	weights(config) {
		const { layers, heads, dim, ff, key, waves } = config;
		const element = elementWidth(config);
		const hidden = Array<number>(layers).fill(ff);
		return {
			...nn.nested("phi", networkWeights([element, ...hidden, dim])),
			keys: nn.normal([heads, key, element], 1 / Math.sqrt(element)),
			queries: nn.filledWith(0, [heads, key]),
			...nn.nested("rho", networkWeights([heads * dim + 4 * waves, ...hidden])),
			...nn.nested("out", nn.linearWeights(ff, dim)),
		};
	},
	observe(config, p, { tokens, days }) {
		const elements = concat([gather(p("embedding"), tokens), encodedTime(days, config)], 2);
		const values = rectified(nn.within(p, "phi"), elements, config.layers + 1); // [rows, places, dim]
		return poolUpTo(scoresOf(p, elements, config), values);
	},
	query(config, p, known, queries, from) {
		const times = [queries.days, queries.gaps].map((days) => encodedTime(days, config));
		const read = rectified(
			nn.within(p, "rho"),
			concat([from.at(known), ...times], 2),
			config.layers,
		);
		return nn.linear(p, "out", read);
	},
});
