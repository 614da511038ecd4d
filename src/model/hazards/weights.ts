import type { CodeConfig } from "../heads/codes.js";
import { fromRareEvents, nested, type WeightSpecs } from "../nn/weights.js";
import { codeWeights, type HazardReading, prefix, stateWidth } from "./head.js";
import { visitWeights } from "./next-visit.js";
import type { HazardSettings } from "./settings.js";

/** Weights of the hazards of every output, and of the next visit. */
export const hazardWeights = (
	settings: HazardSettings,
	reading: HazardReading,
	config: CodeConfig,
): WeightSpecs =>
	fromRareEvents(
		nested(prefix, {
			...codeWeights(settings, reading, config),
			...visitWeights(settings, stateWidth(reading, config)),
		}),
	);

/** Whether a weight is one of the hazards'. */
export const isHazardWeight = (name: string): boolean => name.startsWith(`${prefix}.`);
