import type { ParameterValues } from "../models/index.js";

export const weightCount = (weights: ParameterValues): number =>
	[...weights.values()].reduce((total, { data }) => total + data.length, 0);
