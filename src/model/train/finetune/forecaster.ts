import { InputError } from "../../../base/errors.js";
import { initialWeights, type Model, type ParameterValues } from "../../index.js";
import type { Trained } from "../trained.js";
import type { Pretrained } from "./classifier.js";
import { taskWeights } from "./task-folder.js";

/** A pre-trained model that learns to forecast, where that needs fine-tuning. */
export const forecaster = ({ model, weights }: Pretrained): Model => ({
	...model,
	...(model.ahead && {
		objectives: { next: model.ahead, horizon: model.ahead, visits: model.ahead },
	}),
	init: () => weights,
});

/** What fine-tuning starts from: what was learned without labels, or nothing where that is the model's way. */
export const fineTuningStart = (trained: Trained): Trained =>
	trained.model.pretraining === "none"
		? {
				...trained,
				weights: initialWeights(trained.model, trained.config, trained.run.options.seed),
			}
		: trained;

/** The weights that answer questions: those of the run, or those fine-tuned to forecast. */
export function forecastWeights({ folder, model, weights }: Trained): ParameterValues {
	if (model.forecasting.after === "pretraining") return weights;
	const tuned = taskWeights(folder, "forecast");
	if (tuned) return tuned.weights;
	throw new InputError(
		`${model.name} forecasts after fine-tuning; run \`trajgpt finetune ${folder} --task forecast\``,
	);
}
