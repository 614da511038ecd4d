import type { ParameterValues } from "./model.js";

/** How many numbers a model has learned. */
export const weightCount = (weights: ParameterValues): number =>
	[...weights.values()].reduce((total, { data }) => total + data.length, 0);
