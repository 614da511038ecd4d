import { random } from "../../base/random.js";
import { hazardSettings } from "../../model/hazards/settings.js";
import { modelById } from "../../model/index.js";

const model = modelById("trajgpt");

/** A small TrajGPT of eight tokens, not trained. */
export function smallTrajgpt(seed: number, { hasHazards = false, layers = 1 } = {}) {
	const config = model.config.parse({
		layers,
		heads: 2,
		dim: 12,
		key: 8,
		value: 12,
		ff: 16,
		vocab: 8,
		...(hasHazards && { hazards: hazardSettings.parse({}) }),
	});
	return { model, config, weights: model.init(config, random(seed)) };
}
