import { random } from "../../../base/random.js";
import { modelById } from "../../index.js";
import { smallSettings } from "../../testing/small-settings.js";
import type { HazardSettings } from "../settings.js";

/** A small model whose hazard weights are all drawn, those that start at zero too. */
export function drawnModel(id: string, vocab: number, hazards: HazardSettings) {
	const model = modelById(id);
	const config = model.config.parse({ ...smallSettings[id], vocab, hazards });
	const weights = model.init(config, random(1));
	const draw = random(2);
	for (const [name, { data }] of weights)
		if (name.startsWith("hazards."))
			for (const i of data.keys()) data[i] = data[i] + 0.1 * draw.normal();
	return { model, config, weights };
}
