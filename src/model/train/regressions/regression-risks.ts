import { yearDays } from "../../../base/time.js";
import { competingIncidences } from "../../hazards/incidence.js";
import { binsOf, type HazardSettings, outputsOf } from "../../hazards/settings.js";
import type { HazardRegression } from "./fit-hazards.js";
import { ageCurve, logRateAt } from "./followed-landmarks.js";
import { logRatios } from "./hazard-regression.js";
import { described, type KnownOnDay } from "./record-features.js";

/**
 * The cumulative incidence of each output within each horizon, death competing: [horizons][people × outputs]. Death is
 * the last output that is asked for, or it has the rate of age and sex.
 */
export function regressionRisks(
	settings: HazardSettings,
	vocab: number,
	{ rates, outputs: fitted }: HazardRegression,
	people: readonly KnownOnDay[],
	outputs: readonly number[],
	horizonDays: readonly number[],
): Float32Array[] {
	const bins = binsOf(settings);
	const { death } = outputsOf(settings, vocab);
	const description = described(settings, vocab, people);
	const hazards = [...outputs, death].map((output) => {
		const regression = fitted.get(output);
		return {
			curve: regression?.curve ?? ageCurve(rates, output),
			ratios: regression ? logRatios(regression, description) : new Float64Array(people.length),
		};
	});
	const count = hazards.length;
	const risks = horizonDays.map(() => new Float32Array(people.length * outputs.length));
	const logHazards = new Float32Array(bins.to.length * count);
	const { ages, sexes } = description;
	for (const person of people.keys()) {
		for (const [i, { curve, ratios }] of hazards.entries())
			for (const [bin, middle] of bins.middle.entries())
				logHazards[bin * count + i] =
					logRateAt(curve, sexes[person], ages[person], middle / yearDays) + ratios[person];
		const incidences = competingIncidences(
			bins,
			{ count, death: count - 1 },
			logHazards,
			horizonDays,
		);
		for (const [horizon, incidence] of incidences.entries())
			risks[horizon].set(incidence.subarray(0, outputs.length), person * outputs.length);
	}
	return risks;
}
