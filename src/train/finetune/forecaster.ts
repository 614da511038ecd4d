import { initialWeights, type Model } from "../../models/index.js";
import type { Trained } from "../trained.js";
import type { Pretrained } from "./classifier.js";

/** A pre-trained model that learns to answer what comes after a window; it must have `ahead`. */
export const forecaster = ({ model, weights }: Pretrained): Model => ({
	...model,
	...model.ahead,
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
