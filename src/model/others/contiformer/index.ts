import { z } from "zod";
import { add, type Tensor } from "../../../engine/tensor/index.js";
import { fields, headsDivide } from "../../kinds/fields.js";
import { embedded, type Window, windowModel } from "../../kinds/window.js";
import { feedForward, feedForwardWeights } from "../../nn/feed-forward.js";
import { norm, normWeights } from "../../nn/layer-norm.js";
import { timeEncoding } from "../../nn/time-encoding.js";
import { nested, numbered, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import { meansAtPositions } from "./at-positions.js";
import { attend, continuousWeights } from "./attention.js";
import { clockAfter, clockOf } from "./clock.js";
import { meansAtQueries } from "./queries.js";
import { type Times, timesOf } from "./times.js";

const config = z
	.strictObject({
		vocab: fields.vocab,
		hazards: fields.hazards,
		layers: fields.layers(1),
		heads: fields.heads(4),
		dim: fields.dim(32),
		ff: fields.ff(128),
		flow: z
			.int()
			.min(1)
			.max(4096)
			.default(32)
			.describe("width inside the networks that drive keys and values"),
		steps: z
			.int()
			.min(1)
			.max(64)
			.default(4)
			.describe("steps in which an ODE is solved from an event to either end of the window"),
		points: z
			.int()
			.min(1)
			.max(16)
			.default(2)
			.describe("points between two places at which integrands are read"),
		window: fields.window.unwrap().min(3).default(52),
		ahead: fields.ahead.unwrap().default(16),
	})
	.refine(headsDivide.check, headsDivide.say)
	.refine(({ dim }) => dim % 2 === 0, {
		path: ["dim"],
		error: "even: times are sines and cosines",
	});

type ContiformerConfig = z.infer<typeof config>;

function weights(config: ContiformerConfig): WeightSpecs {
	const { layers, dim, ff } = config;
	const layer = {
		...nested("attention", continuousWeights(config)),
		...nested("attentionNorm", normWeights(dim)),
		...nested("feedForward", feedForwardWeights(dim, ff)),
		...nested("feedForwardNorm", normWeights(dim)),
	};
	return numbered("layers", layers, layer);
}

/** Waves from one of 6 days to one of 170 years. */
const encodingOf = ({ dim }: ContiformerConfig, days: Tensor): Tensor =>
	timeEncoding(days, { width: dim, longest: 10_000 });

/** What follows the attention in a layer. */
function settled(p: Weights, x: Tensor, seen: Tensor): Tensor {
	const y = norm(within(p, "attentionNorm"), add(x, seen));
	return norm(within(p, "feedForwardNorm"), add(y, feedForward(within(p, "feedForward"), y)));
}

/** What each layer reads at the places, times told, and what the last one gives. */
function throughLayers(config: ContiformerConfig, p: Weights, window: Window, times: Times) {
	const encoding = encodingOf(config, window.days);
	const inputs: Tensor[] = [];
	let x = embedded(p, window);
	for (let i = 0; i < config.layers; i++) {
		const q = within(p, `layers.${i}`);
		const timed = add(x, encoding);
		inputs.push(timed);
		const means = meansAtPositions(within(q, "attention"), config, timed, times);
		x = settled(q, timed, attend(within(q, "attention"), config, means, times.shown));
	}
	return { inputs, output: x };
}

const rowTimes = (config: ContiformerConfig, window: Window): Times =>
	timesOf(clockOf(window), window.shown, config);

/** A Transformer in continuous time: queries, keys and values are curves, and a score is a mean over time. */
export const contiformer = windowModel<ContiformerConfig>({
	id: "contiformer",
	name: "ContiFormer",
	cite: "Chen, Ren, Wang, Fang, Sun, Li: ContiFormer: Continuous-Time Transformer for Irregular Time Series Modeling, 2023",
	config,
	learningRate: 1e-2,
	learningRates: { paper: 3e-2 },
	presets: {
		tiny: { ff: 64 },
		default: {},
		paper: { ff: 400 },
	},
	pretraining: "masked",
	forecasts: "after pretraining",
	usesQueryTime: true,
	weights,
	encode: (config, p, window) => throughLayers(config, p, window, rowTimes(config, window)).output,
	// A query is a masked place that follows the last one: no place sees it, nor does another query.
	query(config, p, _encoded, window, { days, gaps }) {
		const times = rowTimes(config, window);
		const { inputs } = throughLayers(config, p, window, times);
		const encoding = encodingOf(config, days);
		const after = clockAfter(times.clock, gaps);
		let x: Tensor | undefined;
		for (const [i, places] of inputs.entries()) {
			const q = within(p, `layers.${i}`);
			const timed: Tensor = x ? add(x, encoding) : encoding;
			const means = meansAtQueries(within(q, "attention"), config, places, times, {
				x: timed,
				after,
			});
			x = settled(q, timed, attend(within(q, "attention"), config, means, times.shown));
		}
		return x as Tensor;
	},
});
