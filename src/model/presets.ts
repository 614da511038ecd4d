import type { Model } from "./model.js";

/** The learning rate of models without their own. */
export const commonLearningRate = 3e-3;

/** The highest learning rate that training takes for a model in a preset, unless the user gives one. */
export const learningRateOf = (
	model: Pick<Model, "learningRate" | "learningRates">,
	preset: string,
): number => model.learningRates?.[preset] ?? model.learningRate ?? commonLearningRate;

/** The largest preset that is suggested for so many training patients; undefined if none is. */
export const suggestedPreset = (
	{ suggestedFrom = {} }: Pick<Model, "suggestedFrom">,
	trainPatients: number,
): string | undefined =>
	Object.keys(suggestedFrom).findLast((name) => trainPatients >= (suggestedFrom[name] as number));
