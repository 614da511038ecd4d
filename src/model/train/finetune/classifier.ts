import { inOrder, type Tensor } from "../../../engine/tensor/index.js";
import { type LinearHead, labelHead, labelLogOdds } from "../../heads/label.js";
import type { BatchShape, Model, Parameters, ParameterValues } from "../../index.js";
import { drawWeights, parametersOf } from "../../nn/weights.js";
import { labelObjective } from "../../objectives/label.js";
import { pooled, slotStates } from "../../pooling.js";

/** A pre-trained model. */
export interface Pretrained {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Those weights that hidden states depend on: all but those of the output over codes. */
function bodyOf({ model, config, weights }: Pretrained): ParameterValues {
	const symbols = parametersOf(weights);
	const reached = new Set(
		inOrder([slotStates(model, config, symbols, { rows: 1, length: 2 }).hidden]),
	);
	return new Map([...weights].filter(([name]) => reached.has((symbols[name] as Tensor).node)));
}

/** A model names all its weights, also those that hidden states have no use for. */
const allOf = ({ weights }: Pretrained, parameters: Parameters): Parameters => ({
	...parametersOf(weights),
	...parameters,
});

/** The log-odds of yes for each row, [rows]; fed by `pooledFeeds` and, if the head reads risks, `riskFeeds`. */
export const logOdds = (from: Pretrained, parameters: Parameters, shape: BatchShape): Tensor =>
	labelLogOdds(parameters, pooled(from.model, from.config, allOf(from, parameters), shape));

/**
 * A pre-trained model that answers yes or no: a linear head on the pooled hidden states, trained end
 * to end by −log p of the answer. Its batches are label queries (see `withLabelQuery`).
 */
export const classifier = (from: Pretrained, head: LinearHead): Model => {
	const label = labelObjective(head.risk !== undefined);
	return {
		...from.model,
		init: (_config, random) =>
			new Map([...bodyOf(from), ...drawWeights(labelHead.weights(head), random)]),
		objectives: { next: [label], horizon: [label], visits: [label] },
		states: (config, parameters, ...others) =>
			from.model.states(config, allOf(from, parameters), ...others),
	};
};
