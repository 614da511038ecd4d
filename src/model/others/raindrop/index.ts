import { z } from "zod";
import {
	add,
	concat,
	div,
	expand,
	matmul,
	maximum,
	mul,
	relu,
	reshape,
	slice,
	sub,
	sum,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { fields, headsDivide } from "../../kinds/fields.js";
import { embedded, windowModel } from "../../kinds/window.js";
import { attention, attentionWeights, paddingMask } from "../../nn/attention.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { linear, linearWeights } from "../../nn/linear.js";
import { timeEncoding } from "../../nn/time-encoding.js";
import {
	nested,
	normal,
	numbered,
	type WeightSpecs,
	type Weights,
	within,
} from "../../nn/weights.js";
import { graphDistance } from "./graph-distance.js";
import {
	completeGraph,
	observationWeights,
	observedStates,
	type Propagated,
	propagate,
	propagationWeights,
	prune,
	sensorsOf,
} from "./sensor-graph.js";

const config = z
	.strictObject({
		vocab: fields.vocab,
		hazards: fields.hazards,
		window: fields.window,
		windows: fields.windows(2),
		ahead: fields.ahead,
		layers: fields.layers(2),
		heads: fields.heads(4),
		dim: fields.dim(96),
		ff: fields.ff(384),
		propagations: z
			.int()
			.min(1)
			.max(16)
			.default(2)
			.describe("layers of messages between the sensors"),
		observation: z
			.int()
			.min(1)
			.max(256)
			.default(8)
			.describe("width of what is known of a sensor at a moment"),
		receiver: z
			.int()
			.min(1)
			.max(256)
			.default(16)
			.describe("width of what a sensor is to those that tell it something"),
		kept: z
			.number()
			.positive()
			.max(1)
			.default(0.5)
			.describe("part of the edges that is left after each layer of messages, the heaviest"),
		likeness: z
			.number()
			.nonnegative()
			.max(1000)
			.default(0.02)
			.describe("weight of the distance between the graphs of different windows in the loss"),
	})
	.refine(headsDivide.check, headsDivide.say);

type RaindropConfig = z.infer<typeof config>;

/** Times are encoded by waves of periods from 2π days to 2π · 10 000 days, 172 years. */
const time = { width: 16, longest: 10_000 };

function weights(config: RaindropConfig): WeightSpecs {
	const { vocab, dim, ff, layers, propagations, observation, receiver } = config;
	const layer = {
		...nested("attention", attentionWeights(dim)),
		...nested("attentionNorm", normWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForwardNorm", normWeights(dim)),
	};
	const propagation = propagationWeights(vocab, {
		...{ width: observation, receiver, time: time.width },
	});
	return {
		...nested("sensors", observationWeights(vocab, observation)),
		...numbered("propagations", propagations, propagation),
		join: normal([observation, dim], 1),
		...nested("moment", linearWeights(dim + time.width, dim)),
		...numbered("layers", layers, layer),
		...nested("answer", linearWeights(dim + time.width, dim)),
	};
}

/**
 * All sensors' knowledge at a moment in one vector, Σ_v h_v^t W_v, where W_v = join · diag(embedding_v):
 * what a matrix on the sensors joined end to end would give, with one such matrix for all codes.
 */
function joinSensors(p: Weights, known: Tensor, vectors: Tensor): Tensor {
	const [rows, moments, sensors, width] = known.shape as [number, number, number, number];
	const dim = vectors.shape[2] as number;
	const W = mul(reshape(vectors, [rows, sensors, 1, dim]), p("join")); // [rows, sensors, width, dim]
	return matmul(
		reshape(known, [rows, moments, sensors * width]),
		reshape(W, [rows, sensors * width, dim]),
	);
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
	weights,
	penalties: ["graphs"],
	encode({ propagations, kept, likeness, layers, heads }, p, window, side) {
		// Time stands at 0 at the window's end: queries use the same clock.
		const times = timeEncoding(sub(window.days, slice(window.days, 1, -1)), time);
		const sensors = sensorsOf(window);
		let now: Propagated = {
			known: observedStates(within(p, "sensors"), sensors),
			edges: completeGraph(sensors),
		};
		for (let i = 0; i < propagations; i++) {
			const edges = i === 0 ? now.edges : prune(now.edges, sensors, kept);
			now = propagate(within(p, `propagations.${i}`), sensors, { ...now, edges }, times);
		}
		if (side) side.penalties.graphs = mul(graphDistance(sensors, now.edges), likeness);
		let x = linear(
			within(p, "moment"),
			concat([joinSensors(p, now.known, embedded(p, window)), times], 2),
		);
		const mask = paddingMask(window.shown);
		for (let i = 0; i < layers; i++) {
			const q = within(p, `layers.${i}`);
			const seen = attention(within(q, "attention"), x, { heads, mask });
			x = norm(within(q, "attentionNorm"), add(x, seen));
			x = norm(
				within(q, "feedForwardNorm"),
				add(x, feedForward(within(q, "feedForward"), x, relu)),
			);
		}
		return x;
	},
	query(_config, p, encoded, { shown }, queries) {
		const [rows, places, dim] = encoded.shape as [number, number, number];
		const queryCount = queries.gaps.shape[1] as number;
		const all = sum(mul(encoded, reshape(shown, [rows, places, 1])), 1, true); // [rows, 1, dim]
		const mean = div(all, reshape(maximum(sum(shown, 1), 1), [rows, 1, 1]));
		const read = concat(
			[expand(mean, [rows, queryCount, dim]), timeEncoding(queries.gaps, time)],
			2,
		);
		return relu(linear(within(p, "answer"), read));
	},
});
