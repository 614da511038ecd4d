import { InputError } from "../base/errors.js";
import type { Model } from "./model.js";
import type { Predictions, Predictor } from "./predictor.js";

/** Refuses numbers of a model that are not finite: nothing may be made of them, and JSON would say null. */
export function checkFinite(values: Float32Array, what: string): Float32Array {
	for (let at = 0; at < values.length; at++)
		if (!Number.isFinite(values[at]))
			throw new InputError(
				`the model's ${what} is ${values[at]}, expected a finite number; check that the times of the events ` +
					"and the query times are plausible; if they are, the weights are at fault: train again",
			);
	return values;
}

const checked = async (asked: Promise<Predictions>): Promise<Predictions> => {
	const answers = await asked;
	checkFinite(answers.logProbabilities, "prediction");
	return answers;
};

/** A predictor that refuses to answer with what is not a finite number. */
export const finitePredictor = (predictor: Predictor): Predictor => ({
	...predictor,
	query: (...given) => checked(predictor.query(...given)),
	score: (...given) => checked(predictor.score(...given)),
	queryWithin: (...given) => checked(predictor.queryWithin(...given)),
	async advance(...given) {
		const { state, predictions } = await predictor.advance(...given);
		checkFinite(predictions.logProbabilities, "prediction");
		return { state, predictions };
	},
});

export const withFinitePredictions = (model: Model): Model => ({
	...model,
	predictor: (...given) => finitePredictor(model.predictor(...given)),
});
