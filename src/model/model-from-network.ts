import { readingOf } from "./hazards/head.js";
import { hazardsOfConfig } from "./hazards/objective.js";
import { hazardWeights } from "./hazards/weights.js";
import type { CodeConfig } from "./heads/codes.js";
import { historyPredictor } from "./kinds/history-predictor.js";
import type { Model, Network } from "./model.js";
import { drawWeights } from "./nn/weights.js";

/** A model is a network with weights that are drawn, a predictor and, if it learns them, hazards. */
export const modelFromNetwork = <C extends CodeConfig>(network: Network<C>): Model<C> => {
	const weights: Network<C>["weights"] = (config) => ({
		...network.weights(config),
		...(config.hazards && hazardWeights(config.hazards, readingOf(network), config)),
	});
	const hazards = hazardsOfConfig<C>(readingOf(network));
	const { next, horizon, visits } = network.objectives;
	return {
		predictor: (runtime, config, values) => historyPredictor(runtime, network, config, values),
		...network,
		objectives: {
			next: [...next, hazards],
			horizon: [...horizon, hazards],
			visits: [...visits, hazards],
		},
		weights,
		init: (config, random) => drawWeights(weights(config), random),
	};
};
