import type { Runtime } from "../engine/runtime/index.js";
import type { FineTunedTask } from "../model/train/finetune/classifier.js";
import {
	attributeCodeProbability,
	codeTrajectories,
	predictAt,
	sampleFutures,
} from "./code-probabilities.js";
import { futureModel } from "./futures.js";
import { hazardModel, type Learned } from "./hazards.js";
import {
	attributeIncidence,
	type IncidenceReader,
	incidenceReader,
	incidences,
	incidenceTrajectories,
} from "./incidence.js";
import { representer, taskScorer } from "./represent.js";
import { tunedTask } from "./score.js";

/** The low-level calls of a model, with histories as tokens and days. Arguments and results can cross to a worker. */
export type Calls = ReturnType<typeof callsOf>["calls"];

/** A function of an opened part, as a call that opens it. */
const callOf =
	<Part, Inputs extends readonly unknown[], Result>(
		open: () => Part,
		work: (part: Part, ...inputs: Inputs) => Promise<Result>,
	) =>
	async (...inputs: Inputs): Promise<Result> =>
		work(open(), ...inputs);

/** The same for a method of the part. */
const methodOf =
	<Part, Inputs extends readonly unknown[], Result>(
		open: () => Part,
		method: (part: Part) => (...inputs: Inputs) => Result | Promise<Result>,
	) =>
	async (...inputs: Inputs): Promise<Result> =>
		method(open())(...inputs);

/** The calls of a model that runs here, and what frees it. */
export function callsOf(
	runtime: Runtime,
	learned: Learned & { readonly task?: FineTunedTask | undefined },
) {
	const { model, config, weights, task } = learned;
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
	const predictor = onFirstUse(() => model.predictor(runtime, config, weights));
	const hazards = onFirstUse(() => hazardModel(runtime, learned));
	const futures = onFirstUse(() => futureModel(runtime, learned));
	const scorer = onFirstUse(() => taskScorer(runtime, learned, tunedTask(task, "load")));
	const vectors = onFirstUse(() => representer(runtime, learned));
	const reader = (): IncidenceReader => incidenceReader(hazards());
	return {
		calls: {
			start: methodOf(predictor, ({ start }) => start),
			select: methodOf(predictor, ({ select }) => select),
			observe: methodOf(predictor, ({ observe }) => observe),
			query: methodOf(predictor, ({ query }) => query),
			advance: methodOf(predictor, ({ advance }) => advance),
			queryWithin: methodOf(predictor, ({ queryWithin }) => queryWithin),
			predict: callOf(predictor, predictAt),
			/** The probability of codes at times of histories, given that something is recorded then. */
			codeProbabilities: callOf(predictor, codeTrajectories),
			/** The effect of each event on such a probability. */
			attributeCodeProbability: callOf(predictor, attributeCodeProbability),
			/** The probability that codes are recorded within horizons after index days, death competing. */
			incidence: callOf(hazards, incidences),
			/** The same within one horizon, along histories. */
			incidenceTrajectories: callOf(reader, incidenceTrajectories),
			/** The effect of each event on such a risk. */
			attributeIncidence: callOf(reader, attributeIncidence),
			/** Codes at given times. */
			futures: callOf(predictor, sampleFutures),
			/** Whole futures: visits with their codes, and death. */
			drawFutures: methodOf(futures, ({ draw }) => draw),
			/** One vector per history: [histories, dim]. */
			represent: methodOf(vectors, ({ represent }) => represent),
			/** The probability of the label of the model's task, one per history. */
			scoreTask: methodOf(scorer, ({ probabilities }) => probabilities),
		},
		async close() {
			for (const part of opened) await part.dispose();
		},
	};
}
