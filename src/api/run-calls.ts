import {
	attribute,
	predictAt,
	representations,
	riskTrajectories,
	sampleFutures,
	type ViewedHistory,
	whatIf,
} from "../infer/index.js";
import { finitePredictor } from "../models/finite.js";
import type { Model, ParameterValues, Predictor } from "../models/index.js";
import type { Runtime } from "../runtime/index.js";

/** The calls of a model that runs here, and what frees it. */
export function callsOf(
	runtime: Runtime,
	{ model, config, weights }: { model: Model; config: unknown; weights: ParameterValues },
) {
	const predictor = finitePredictor(model.predictor(runtime, config, weights));
	const { observe, query, advance, queryWithin } = predictor;
	const withPredictor =
		<Rest extends readonly unknown[], T>(work: (predictor: Predictor, ...rest: Rest) => T) =>
		(...rest: Rest): T =>
			work(predictor, ...rest);
	return {
		calls: {
			start: async (patients: number) => predictor.start(patients),
			select: async (...values: Parameters<Predictor["select"]>) => predictor.select(...values),
			...{ observe, query, advance, queryWithin },
			predict: withPredictor(predictAt),
			risk: withPredictor(riskTrajectories),
			attribute: withPredictor(attribute),
			whatIf: withPredictor(whatIf),
			futures: withPredictor(sampleFutures),
			/** One vector per history: [histories, dim]. */
			represent: (histories: readonly ViewedHistory[]) =>
				representations(runtime, { model, config, weights }, histories),
		},
		close: predictor.dispose,
	};
}
