import type { Runtime } from "../../engine/runtime/index.js";
import type { Model, ParameterValues, Predictor } from "../../model/index.js";
import type { FineTunedTask } from "../../model/train/finetune/classifier.js";
import { type FutureModel, futureModel } from "../futures.js";
import {
	attributeCodeProbability,
	attributeIncidence,
	codeTrajectories,
	type HazardModel,
	hazardModel,
	type IncidenceReader,
	incidenceReader,
	incidences,
	incidenceTrajectories,
	predictAt,
	representer,
	sampleFutures,
	type TaskScorer,
	taskScorer,
	type ViewedHistory,
} from "../index.js";
import { tunedTask } from "../score.js";

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
	const predictor = model.predictor(runtime, config, weights);
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
	const withIncidences = <Rest extends readonly unknown[], T>(
		work: (read: IncidenceReader, ...rest: Rest) => Promise<T>,
	) => withHazards((model, ...rest: Rest) => work(incidenceReader(model), ...rest));
	let futuresOpened: FutureModel | undefined;
	const futuresHere = () => {
		futuresOpened ??= futureModel(runtime, { model, config, weights });
		return futuresOpened;
	};
	const vectors = representer(runtime, { model, config, weights });
	let scorer: TaskScorer | undefined;
	return {
		calls: {
			start: async (patients: number) => predictor.start(patients),
			select: async (...values: Parameters<Predictor["select"]>) => predictor.select(...values),
			observe,
			query,
			advance,
			queryWithin,
			predict: withPredictor(predictAt),
			/** The probability of codes at times of histories, given that something is recorded then. */
			codeProbabilities: withPredictor(codeTrajectories),
			/** The effect of each event on such a probability. */
			attributeCodeProbability: withPredictor(attributeCodeProbability),
			/** The probability that codes are recorded within horizons after index days, death competing. */
			incidence: withHazards(incidences),
			/** The same within one horizon, along histories. */
			incidenceTrajectories: withIncidences(incidenceTrajectories),
			/** The effect of each event on such a risk. */
			attributeIncidence: withIncidences(attributeIncidence),
			/** Codes at given times. */
			futures: withPredictor(sampleFutures),
			/** Whole futures: visits with their codes, and death. */
			drawFutures: async (...given: Parameters<FutureModel["draw"]>) =>
				futuresHere().draw(...given),
			/** One vector per history: [histories, dim]. */
			represent: (histories: readonly ViewedHistory[]) => vectors.represent(histories),
			/** The probability of the label of the model's task, one per history. */
			async scoreTask(histories: readonly ViewedHistory[]): Promise<Float64Array> {
				scorer ??= taskScorer(runtime, { model, config, weights }, tunedTask(task, "load"));
				return scorer.probabilities(histories);
			},
		},
		async close() {
			await opened?.dispose();
			await futuresOpened?.dispose();
			await scorer?.dispose();
			await vectors.dispose();
			await predictor.dispose();
		},
	};
}
