import { drawWeights } from "../nn/weights.js";
import type { CodeConfig } from "./heads/codes.js";
import { historyPredictor } from "./kinds/history-predictor.js";
import type { Model, Network } from "./model.js";

/** A model is a network with weights that are drawn and a predictor. */
export const modelFromNetwork = <C extends CodeConfig>(network: Network<C>): Model<C> => ({
	predictor: (runtime, config, weights) => historyPredictor(runtime, network, config, weights),
	...network,
	init: (config, random) => drawWeights(network.weights(config), random),
});
