import { InputError } from "../base/errors.js";
import { type FutureModel, futureModel } from "../infer/futures.js";
import {
	attributeCodeProbability,
	attributeIncidence,
	codeTrajectories,
	type HazardModel,
	hazardModel,
	incidences,
	incidenceTrajectories,
	predictAt,
	representations,
	sampleFutures,
	type TaskScorer,
	taskScorer,
	type ViewedHistory,
	whatIf,
} from "../infer/index.js";
import { finitePredictor } from "../models/finite.js";
import type { Model, ParameterValues, Predictor } from "../models/index.js";
import type { Runtime } from "../runtime/index.js";
import type { FineTunedTask } from "../train/finetune/scoring.js";
import { untunedMessage } from "./model.js";

/** The calls of a model that runs here, and what frees it. */
export function callsOf(
	runtime: Runtime,
	{
		model,
		config,
		weights,
		task,
	}: {
		model: Model;
		config: unknown;
		weights: ParameterValues;
		task?: FineTunedTask | undefined;
	},
) {
	const predictor = finitePredictor(model.predictor(runtime, config, weights));
	const { observe, query, advance, queryWithin } = predictor;
	const withPredictor =
		<Rest extends readonly unknown[], T>(work: (predictor: Predictor, ...rest: Rest) => T) =>
		(...rest: Rest): T =>
			work(predictor, ...rest);
	let opened: HazardModel | undefined;
	/** The first call builds it; a model without hazards is refused. */
	const withHazards =
		<Rest extends readonly unknown[], T>(work: (model: HazardModel, ...rest: Rest) => Promise<T>) =>
		async (...rest: Rest): Promise<T> => {
			opened ??= hazardModel(runtime, { model, config, weights });
			return work(opened, ...rest);
		};
	let drawing: FutureModel | undefined;
	let scorer: TaskScorer | undefined;
	return {
		calls: {
			start: async (patients: number) => predictor.start(patients),
			select: async (...values: Parameters<Predictor["select"]>) => predictor.select(...values),
			...{ observe, query, advance, queryWithin },
			predict: withPredictor(predictAt),
			/** The probability of codes at times of histories, given that something is recorded then. */
			codeProbabilities: withPredictor(codeTrajectories),
			/** The effect of each event on such a probability. */
			attributeCodeProbability: withPredictor(attributeCodeProbability),
			/** The probability that codes are recorded within horizons after index days, death competing. */
			incidence: withHazards(incidences),
			/** The same within one horizon, along histories. */
			incidenceTrajectories: withHazards(incidenceTrajectories),
			/** The effect of each event on such a risk. */
			attributeIncidence: withHazards(attributeIncidence),
			whatIf: withPredictor(whatIf),
			/** Codes at given times. */
			futures: withPredictor(sampleFutures),
			/** Whole futures: visits with their codes, and death. */
			async drawFutures(...given: Parameters<FutureModel["draw"]>) {
				drawing ??= futureModel(runtime, { model, config, weights });
				return drawing.draw(...given);
			},
			/** One vector per history: [histories, dim]. */
			represent: (histories: readonly ViewedHistory[]) =>
				representations(runtime, { model, config, weights }, histories),
			/** The probability of the label of the model's task, one per history. */
			async scoreTask(histories: readonly ViewedHistory[]): Promise<Float64Array> {
				if (!task) throw new InputError(untunedMessage("load"));
				scorer ??= taskScorer(runtime, { model, config, weights }, task);
				return scorer.probabilities(histories);
			},
		},
		async close() {
			await opened?.dispose();
			await drawing?.dispose();
			await scorer?.dispose();
			await predictor.dispose();
		},
	};
}
