import type { Runtime } from "../../engine/runtime/index.js";
import type { FineTunedTask } from "../../model/train/finetune/classifier.js";
import {
	attributeCodeProbability,
	codeTrajectories,
	predictAt,
	sampleFutures,
} from "../code-probabilities.js";
import { type FutureModel, futureModel } from "../futures.js";
import { hazardModel, type Learned } from "../hazards.js";
import type { ViewedHistory } from "../histories.js";
import {
	attributeIncidence,
	type IncidenceReader,
	incidences,
	incidenceTrajectories,
} from "../incidence.js";
import { representer, taskScorer } from "../represent.js";
import { tunedTask } from "../score.js";

/** The low-level calls of a model, with histories as tokens and days. Arguments and results can cross to a worker. */
export type Calls = ReturnType<typeof callsOf>["calls"];

type Rest<Work> = Work extends (first: never, ...rest: infer Given) => unknown ? Given : never;

/** The calls of a model that runs here, and what frees it. */
export function callsOf(
	runtime: Runtime,
	learned: Learned & { readonly task?: FineTunedTask | undefined },
) {
	const { model, config, weights, task } = learned;
	const predictor = model.predictor(runtime, config, weights);
	const { observe, query, advance, queryWithin } = predictor;
	const opened: { dispose(): Promise<void> }[] = [];
	/** Builds a part on its first use: a model without it is refused then, and pages may never need it. */
	const onFirstUse = <T extends { dispose(): Promise<void> }>(build: () => T) => {
		let part: T | undefined;
		return () => {
			if (part) return part;
			part = build();
			opened.push(part);
			return part;
		};
	};
	const hazards = onFirstUse(() => hazardModel(runtime, learned));
	const futures = onFirstUse(() => futureModel(runtime, learned));
	const scorer = onFirstUse(() => taskScorer(runtime, learned, tunedTask(task, "load")));
	const vectors = onFirstUse(() => representer(runtime, learned));
	const incidence: IncidenceReader = async (...question) => incidences(hazards(), ...question);
	return {
		calls: {
			start: async (patients: number) => predictor.start(patients),
			select: async (...values: Parameters<typeof predictor.select>) => predictor.select(...values),
			observe,
			query,
			advance,
			queryWithin,
			predict: (...inputs: Rest<typeof predictAt>) => predictAt(predictor, ...inputs),
			/** The probability of codes at times of histories, given that something is recorded then. */
			codeProbabilities: (...inputs: Rest<typeof codeTrajectories>) =>
				codeTrajectories(predictor, ...inputs),
			/** The effect of each event on such a probability. */
			attributeCodeProbability: (...inputs: Rest<typeof attributeCodeProbability>) =>
				attributeCodeProbability(predictor, ...inputs),
			/** The probability that codes are recorded within horizons after index days, death competing. */
			incidence,
			/** The same within one horizon, along histories. */
			incidenceTrajectories: (...inputs: Rest<typeof incidenceTrajectories>) =>
				incidenceTrajectories(incidence, ...inputs),
			/** The effect of each event on such a risk. */
			attributeIncidence: (...inputs: Rest<typeof attributeIncidence>) =>
				attributeIncidence(incidence, ...inputs),
			/** Codes at given times. */
			futures: (...inputs: Rest<typeof sampleFutures>) => sampleFutures(predictor, ...inputs),
			/** Whole futures: visits with their codes, and death. */
			drawFutures: async (...inputs: Parameters<FutureModel["draw"]>) => futures().draw(...inputs),
			/** One vector per history: [histories, dim]. */
			represent: (histories: readonly ViewedHistory[]) => vectors().represent(histories),
			/** The probability of the label of the model's task, one per history. */
			scoreTask: async (histories: readonly ViewedHistory[]) => scorer().probabilities(histories),
		},
		async close() {
			for (const part of opened) await part.dispose();
			await predictor.dispose();
		},
	};
}
