import { type Model, suggestedPreset } from "../models/index.js";

/** Sizes between a preset and the suggested one from which a user is advised. */
const far = 2;

const number = (count: number) => count.toLocaleString("en-US");

/** One line of advice if scaling curves suggest a far smaller or larger preset for so many training patients. */
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
	const advice =
		steps > 0
			? `${suggested} should predict better than ${preset}, but trains more slowly`
			: `${suggested} should predict as well as ${preset}, and trains faster`;
	return `note: with ${number(trainPatients)} training patients, \`preset\` ${advice} (docs/models.md#which-size)`;
}
