import { thousands } from "../../base/thousands.js";
import { type Model, suggestedPreset } from "../../model/index.js";

/** Sizes between a preset and the suggested one from which a user is advised. */
const far = 2;

/** One line of advice if the model suggests a far smaller or larger preset for so many training patients. */
export function presetAdvice(
	model: Pick<Model, "suggestedFrom">,
	preset: string,
	trainPatients: number,
): string | undefined {
	const { suggestedFrom = {} } = model;
	const suggested = suggestedPreset(model, trainPatients);
	const sizes = Object.keys(suggestedFrom);
	if (suggested === undefined || !sizes.includes(preset)) return undefined;
	const steps = sizes.indexOf(suggested) - sizes.indexOf(preset);
	if (Math.abs(steps) < far) return undefined;
	const reason = steps > 0 ? "it predicted better on simulated patients" : "it trains faster";
	return `with ${thousands(trainPatients)} training patients, \`preset\` ${suggested} is suggested, not ${preset}: ${reason} (docs/models.md#which-size)`;
}
