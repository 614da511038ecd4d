/*
 * RAINDROP (Zhang et al., ICLR 2022). Each code is a sensor, each record an observation with value x = 1. Observations
 * spread to the patient's other sensors over a graph e, complete at first (p^t encodes a time):
 *
 *     h_u^t       = relu(x R_u)   where u is observed at t, else 0
 *     α_uv^t      = σ(h_u^t D [r_v, p^t]ᵀ)
 *     h_v^t      ← relu(h_v^t + Σ_{u observed at t} h_u^t w_u w_vᵀ α_uv^t e_uv)
 *     e_uv       ← e_uv · mean of α_uv^t over the observations of u
 *
 * Between the layers the lighter half of the edges is cut. A Transformer reads the time points [Σ_v h_v^t W_v ; p^t]; a ReLU
 * layer over the mean of its outputs and p^t' gives the hidden state at a query time t'. The loss has a further term,
 * λ · mean |e_uv − e'_uv| over pairs of patients. The graph is that of the codes in the window.
 */

import { z } from "zod";
import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import { fields, headsDivide, integer, modelSettings, positive } from "../kinds/fields.js";
import { embedded, type Window, windowModel } from "../kinds/window.js";
import * as nn from "../nn/index.js";

/**
 * The sensors of a window and their observations. A place is three things: an observation of its code's
 * sensor; a moment, with all other places of its time; and, where it is the first of its code, the sensor.
 */
export function sensorsOf({ tokens, days, shown }: Window) {
	const [rows, places] = tokens.shape as [number, number];
	const across = (x: Tensor) => x.reshape([rows, 1, places]);
	const down = (x: Tensor) => x.reshape([rows, places, 1]);
	const both = down(shown).mul(across(shown));
	const same = (x: Tensor) => down(x).equal(across(x)).cast(shown.dtype).mul(both);
	const [code, time] = [same(tokens), same(days)];
	const earlier = nn.table([places, places], (i, j) => Number(j < i), shown.dtype);
	const isSensor = shown.mul(graph.sub(1, code.mul(earlier).sum(2).minimum(1)));
	const alike = code.mul(time).sum(2).maximum(1);
	return {
		tokens,
		/** 1 where a place stands for a sensor. */
		isSensor, // [rows, sensors]
		/** 1 where an observation is of a sensor. */
		sensorOf: code.mul(across(isSensor)), // [rows, observations, sensors]
		/** 1 where an observation is made at a moment; shared by those of one sensor at one moment. */
		momentOf: time.div(across(alike)), // [rows, moments, observations]
	};
}

type Sensors = ReturnType<typeof sensorsOf>;

/** Every sensor of a window is joined to every other and to itself. */
export function completeGraph({ isSensor }: Sensors): Tensor {
	const [rows, sensors] = isSensor.shape as [number, number];
	return isSensor.reshape([rows, sensors, 1]).mul(isSensor.reshape([rows, 1, sensors]));
}

export const observationWeights = (vocab: number, width: number): nn.WeightSpecs => ({
	observation: nn.normal([vocab, width], 1),
});

/**
 * What is known of each sensor at each moment: of those observed then h = relu(x R_u), of others nothing.
 * That a code was recorded has no more to it than that: x = 1.
 */
export function observedStates(p: nn.Weights, { tokens, sensorOf, momentOf }: Sensors): Tensor {
	const [rows, moments, sensors] = sensorOf.shape as [number, number, number];
	const states = graph.gather(p("observation"), tokens).relu(); // [rows, sensors, width]
	return states
		.reshape([rows, 1, sensors, -1])
		.mul(momentOf.matmul(sensorOf).reshape([rows, moments, sensors, 1]));
}

export const propagationWeights = (
	vocab: number,
	/** Of what is known of a sensor, of what it is as a receiver, of the encoded times. */
	{ width, receiver, time }: { width: number; receiver: number; time: number },
): nn.WeightSpecs => ({
	message: nn.normal([vocab, width], 1 / Math.sqrt(width)),
	receiver: nn.normal([vocab, receiver], 1),
	dependency: nn.normal([width, receiver + time], 1 / Math.sqrt(width * (receiver + time))),
});

interface Propagated {
	readonly known: Tensor; // [rows, moments, sensors, width]
	readonly edges: Tensor; // [rows, senders, receivers]
}

/**
 * One layer: each sensor u observed at a moment t tells every v of it,
 *   α_uv^t = σ(h_u^t D [r_v, p^t]ᵀ),   h_v^t ← relu(h_v^t + Σ_u h_u^t w_u w_vᵀ α_uv^t e_uv),
 * and an edge is worth what it was times the mean of its α over the observations of u.
 */
export function propagate(
	p: nn.Weights,
	{ tokens, isSensor, sensorOf, momentOf }: Sensors,
	{ known: h, edges: e }: Propagated,
	/** Of the places, encoded. */
	times: Tensor, // [rows, places, time]
): Propagated {
	const [rows, places, , width] = h.shape as [number, number, number, number];
	const observed = sensorOf
		.reshape([rows, places, 1, places])
		.matmul(h)
		.reshape([rows, places, width]);
	const w = graph.gather(p("message"), tokens); // [rows, places, width]
	const r = graph.gather(p("receiver"), tokens); // [rows, places, receiver]

	// h D [r, p]ᵀ = h (D_r rᵀ) + h (D_p pᵀ): what of D meets a receiver, and what meets a time.
	const D = p("dependency");
	const side = r.shape[2] as number;
	const forReceiver = r.matmul(D.slice(1, 0, side), { transposeB: true }); // [rows, places, width]
	const forTime = times.matmul(D.slice(1, side), { transposeB: true });
	const alpha = observed
		.matmul(forReceiver, { transposeB: true })
		.add(observed.mul(forTime).sum(2, true))
		.sigmoid(); // [rows, observations, receivers]

	const sent = observed
		.mul(w)
		.sum(2, true)
		.mul(alpha.mul(sensorOf.matmul(e)));
	const arrives = momentOf.matmul(sent); // [rows, moments, receivers]
	const received = w.mul(isSensor.reshape([rows, places, 1]));
	const message = arrives
		.reshape([rows, places, places, 1])
		.mul(received.reshape([rows, 1, places, width]));

	const often = sensorOf.sum(1).maximum(1).reshape([rows, places, 1]);
	const dependency = sensorOf.matmul(alpha, { transposeA: true }).div(often); // [rows, senders, receivers]
	return { known: h.add(message).relu(), edges: e.mul(dependency) };
}

/** Only the heaviest edges, this part of those that join sensors of the window; the others are 0. */
export function prune(edges: Tensor, { isSensor }: Sensors, kept: number): Tensor {
	const [rows, sensors] = isSensor.shape as [number, number];
	const flat = edges.reshape([rows, sensors * sensors]);
	const { values } = graph.topK(flat, sensors * sensors);
	const count = isSensor.sum(1, true); // [rows, 1]
	const last = count.mul(count).mul(kept).floor().sub(1).maximum(0);
	const least = graph.pick(values, last.cast("int32"), 1);
	return flat.mul(flat.greaterEqual(least).cast(flat.dtype)).reshape(edges.shape);
}

/**
 * How much the graphs of two windows differ: the mean of |e_uv − e'_uv| over the edges whose sensors are
 * in both. Each window is held against the one half a batch further on.
 */
export function graphDistance({ tokens, isSensor }: Sensors, edges: Tensor): Tensor {
	const [rows, sensors] = tokens.shape as [number, number];
	const other = (x: Tensor) => x.roll(0, -Math.floor(rows / 2));
	const down = (x: Tensor) => x.reshape([rows, sensors, 1]);
	const across = (x: Tensor) => x.reshape([rows, 1, sensors]);
	// 1 where place i of a window and place j of the other stand for one sensor.
	const match = down(tokens)
		.equal(across(other(tokens)))
		.cast(edges.dtype)
		.mul(down(isSensor))
		.mul(across(other(isSensor)));
	const shared = match.sum(2);
	const pairs = down(shared).mul(across(shared));
	const theirs = match.matmul(other(edges)).matmul(match, { transposeB: true });
	return edges.mul(pairs).sub(theirs).abs().sum().div(pairs.sum().maximum(1));
}

const config = modelSettings({
	window: fields.window,
	windows: fields.windows(2),
	ahead: fields.ahead,
	layers: fields.layers(2),
	heads: fields.heads(4),
	dim: fields.dim(96),
	ff: fields.ff(384),
	propagations: integer(1, 16, 2, "layers of messages between the sensors"),
	observation: integer(1, 256, 8, "width of what is known of a sensor at a moment"),
	receiver: integer(1, 256, 16, "width of what a sensor is to those that tell it something"),
	kept: positive(
		1,
		0.5,
		"part of the edges that is left after each layer of messages, the heaviest",
	),
	likeness: z
		.number()
		.nonnegative()
		.max(1000)
		.default(0.02)
		.describe("weight of the distance between the graphs of different windows in the loss"),
}).refine(headsDivide.check, headsDivide.say);

type RaindropConfig = z.infer<typeof config>;

/** Times are encoded by waves of periods from 2π days to 2π · 10 000 days, 172 years. */
const time = { width: 16, longest: 10_000 };

/**
 * All sensors' knowledge at a moment in one vector, Σ_v h_v^t W_v, where W_v = join · diag(embedding_v):
 * what a matrix on the sensors joined end to end would give, with one such matrix for all codes.
 */
function joinSensors(p: nn.Weights, known: Tensor, vectors: Tensor): Tensor {
	const [rows, moments, sensors, width] = known.shape as [number, number, number, number];
	const dim = vectors.shape[2] as number;
	const W = vectors.reshape([rows, sensors, 1, dim]).mul(p("join")); // [rows, sensors, width, dim]
	return known
		.reshape([rows, moments, sensors * width])
		.matmul(W.reshape([rows, sensors * width, dim]));
}

/**
 * Codes are sensors: what is observed of some at a moment spreads to the others along a graph of the
 * patient's own, and a Transformer reads the moments.
 */
export const raindrop = windowModel<RaindropConfig>({
	id: "raindrop",
	name: "RAINDROP",
	cite: "Zhang, Zeman, Tsiligkaridis, Zitnik: Graph-Guided Network for Irregularly Sampled Multivariate Time Series, ICLR 2022",
	config,
	learningRate: 1e-3,
	learningRates: { paper: 3e-3 },
	presets: {
		tiny: { dim: 64, ff: 256 },
		default: {},
		paper: { dim: 200, ff: 400 },
	},
	pretraining: "none",
	forecasts: "after pretraining",
	usesQueryTime: true,
	weights(config) {
		const { vocab, dim, ff, layers, propagations, observation, receiver } = config;
		const layer = {
			...nn.normed("attention", nn.attentionWeights(dim), dim),
			...nn.normed("feedForward", nn.feedForwardWeights(dim, ff), dim),
		};
		const propagation = propagationWeights(vocab, {
			width: observation,
			receiver,
			time: time.width,
		});
		return {
			...nn.nested("sensors", observationWeights(vocab, observation)),
			...nn.numbered("propagations", propagations, propagation),
			join: nn.normal([observation, dim], 1),
			...nn.nested("moment", nn.linearWeights(dim + time.width, dim)),
			...nn.numbered("layers", layers, layer),
			...nn.nested("answer", nn.linearWeights(dim + time.width, dim)),
		};
	},
	penalties: ["graphs"],
	encode({ propagations, kept, likeness, layers, heads }, p, window, side) {
		// Time stands at 0 at the window's end: queries use the same clock.
		const times = nn.timeEncoding(window.days.sub(window.days.slice(1, -1)), time);
		const sensors = sensorsOf(window);
		let now: Propagated = {
			known: observedStates(nn.within(p, "sensors"), sensors),
			edges: completeGraph(sensors),
		};
		for (let i = 0; i < propagations; i++) {
			const edges = i === 0 ? now.edges : prune(now.edges, sensors, kept);
			now = propagate(nn.within(p, `propagations.${i}`), sensors, { ...now, edges }, times);
		}
		if (side) side.penalties.graphs = graphDistance(sensors, now.edges).mul(likeness);
		let x = nn.linear(
			p,
			"moment",
			graph.concat([joinSensors(p, now.known, embedded(p, window)), times], 2),
		);
		const mask = nn.paddingMask(window.shown);
		for (const q of nn.withinEach(p, "layers", layers)) {
			const seen = nn.attention(q, "attention", x, { heads, mask });
			x = nn.norm(q, "attentionNorm", x.add(seen));
			x = nn.norm(q, "feedForwardNorm", x.add(nn.feedForward(q, "feedForward", x, graph.relu)));
		}
		return x;
	},
	query(_config, p, encoded, { shown }, queries) {
		const [rows, places, dim] = encoded.shape as [number, number, number];
		const queryCount = queries.gaps.shape[1] as number;
		const all = encoded.mul(shown.reshape([rows, places, 1])).sum(1, true); // [rows, 1, dim]
		const mean = all.div(shown.sum(1).maximum(1).reshape([rows, 1, 1]));
		const read = graph.concat(
			[mean.expand([rows, queryCount, dim]), nn.timeEncoding(queries.gaps, time)],
			2,
		);
		return nn.linear(p, "answer", read).relu();
	},
});
