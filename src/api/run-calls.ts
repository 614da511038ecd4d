import {
	attribute,
	predictAt,
	representations,
	riskTrajectories,
	sampleFutures,
	whatIf,
} from "../infer/index.js";
import { finitePredictor } from "../models/finite.js";
import type { Model, ParameterValues } from "../models/index.js";
import type { Runtime } from "../runtime/index.js";
import type { Calls } from "./calls.js";

/** The calls of a model that runs here, and what frees it. */
export function callsOf(
	runtime: Runtime,
	{ model, config, weights }: { model: Model; config: unknown; weights: ParameterValues },
): { readonly calls: Calls; readonly close: () => Promise<void> } {
	const predictor = finitePredictor(model.predictor(runtime, config, weights));
	return {
		calls: {
			start: async (patients) => predictor.start(patients),
			select: async (...values) => predictor.select(...values),
			observe: predictor.observe,
			query: predictor.query,
			advance: predictor.advance,
			queryWithin: predictor.queryWithin,
			predict: (...rest) => predictAt(predictor, ...rest),
			risk: (...rest) => riskTrajectories(predictor, ...rest),
			attribute: (...rest) => attribute(predictor, ...rest),
			whatIf: (...rest) => whatIf(predictor, ...rest),
			futures: (...rest) => sampleFutures(predictor, ...rest),
			represent: (histories) => representations(runtime, { model, config, weights }, histories),
		},
		close: predictor.dispose,
	};
}
