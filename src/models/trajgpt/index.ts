import { type DType, input, stack, type Tensor } from "../../graph/index.js";
import { lossTerm } from "../kinds/head.js";
import type { BatchShape, Model, Parameters } from "../model.js";
import { presets, type TrajgptConfig, trajgptConfig } from "./config.js";
import { decaysPer, decayVectors } from "./decays.js";
import { network, type Slots } from "./network.js";
import { initialParameters } from "./parameters.js";
import { horizonSlots, nextSlots, type SlotValues } from "./slots.js";
import { predictor } from "./state.js";

const dtypeOf = (parameters: Parameters): DType => parameters.embedding?.dtype ?? "float32";

/** Inputs of a stream of slots, under a prefix. */
function slotInputs(prefix: string, { rows, length }: BatchShape, dtype: DType): Slots {
	const shape = [rows, length];
	return {
		tokens: input(`${prefix}.tokens`, shape, "int32"),
		times: input(`${prefix}.times`, shape, "float64"),
		gaps: input(`${prefix}.gaps`, shape, dtype),
	};
}

function named(prefix: string, slots: SlotValues) {
	const feeds = Object.fromEntries(
		Object.entries(slots).map(([field, data]) => [`${prefix}.${field}`, data]),
	);
	return { feeds, targets: slots.weights.reduce((a, b) => a + b, 0) };
}

/** Selective recurrent attention over irregular event histories (Song et al. 2025). */
export const trajgpt: Model<TrajgptConfig> = {
	id: "trajgpt",
	name: "TrajGPT",
	cite: "Song, Lu, Zhu, Buckeridge, Li: TrajGPT, 2025",
	config: trajgptConfig,
	presets,
	learningRate: 5e-3,
	pretraining: "next",
	forecasting: { methods: ["time-specific", "auto-regressive"], after: "pretraining" },
	knowsTimes: true,
	context: ({ position, positions }) =>
		position === "absolute" ? positions : Number.POSITIVE_INFINITY,
	init: initialParameters,
	logits: (config, parameters, shape) =>
		network(config, parameters, { slots: slotInputs("next", shape, dtypeOf(parameters)) })
			.logits as Tensor,
	hidden: (config, parameters, shape) =>
		network(config, parameters, { slots: slotInputs("next", shape, dtypeOf(parameters)) })
			.hidden as Tensor,
	viewFeeds: (_config, batch) => named("next", nextSlots(batch)).feeds,
	predictor,
	forgetting: {
		per: decaysPer,
		rates: (config, parameters, shape) =>
			stack(
				network(config, parameters, { slots: slotInputs("next", shape, dtypeOf(parameters)) })
					.decayRates,
				0,
			),
		vectors: decayVectors,
	},
	loss(config, parameters, shape, { objective }) {
		const dtype = dtypeOf(parameters);
		const horizon = objective === "horizon";
		const { logits, questionLogits } = network(config, parameters, {
			slots: slotInputs("next", shape, dtype),
			...(horizon && { questions: { ...slotInputs("horizon", shape, dtype), read: "before" } }),
		});
		const terms = [lossTerm("next", logits as Tensor)];
		if (questionLogits) terms.push(lossTerm("horizon", questionLogits));
		return terms;
	},
	lossFeeds(_config, batch, { objective, horizon }, random) {
		const next = named("next", nextSlots(batch));
		if (objective === "next") return { feeds: next.feeds, targets: { next: next.targets } };
		const further = named("horizon", horizonSlots(batch, horizon, random));
		return {
			feeds: { ...next.feeds, ...further.feeds },
			targets: { next: next.targets, horizon: further.targets },
		};
	},
};
