import * as glm from "../../glm.js";
import { byFrequency } from "../../hazards/by-frequency.js";
import { type AgeCurve, ageCurve, outcomesOf } from "./followed-landmarks.js";
import type { FittedOutput, HazardRegressionData } from "./hazard-regression.js";

/*
 * Effects that stand out of many in one sample are too large for others, and those of a code with few first records
 * may be nothing but chance. log h = share · (age curve beside the effects + effects) + (1 − share) · (age curve of all
 * people), with one share for codes that are about as frequent, by the first records of the validation patients.
 */

const shares = [1, 0.8, 0.6, 0.4, 0.2, 0] as const;

const between = (share: number, curve: AgeCurve, other: AgeCurve): AgeCurve => {
	const mean = (values: Float64Array, others: Float64Array) =>
		values.map((value, band) => share * value + (1 - share) * others[band]);
	return {
		mean: mean(curve.mean, other.mean),
		halfDifference: mean(curve.halfDifference, other.halfDifference),
	};
};

function atShare(
	{ settings, rates, valid }: HazardRegressionData,
	output: number,
	{ curve, learned }: FittedOutput,
	share: number,
): FittedOutput {
	if (!(learned instanceof Float64Array)) throw new Error("trees have no effects to shrink");
	const shrunk = between(share, curve, ageCurve(rates, output));
	const effects = learned.map((effect) => share * effect);
	const outcomes = outcomesOf(settings, valid, output, shrunk);
	const loss = glm.lossOf(glm.poisson, outcomes, glm.linearPredictor(valid.features, effects));
	return { curve: shrunk, learned: effects, validationLoss: loss - outcomes.logRates };
}

/** The outputs of a regression with effects, each at the share that suits those that are about as frequent. */
export function withSharedShrinkage(
	data: HazardRegressionData,
	fitted: ReadonlyMap<number, FittedOutput>,
): Map<number, FittedOutput> {
	const { onsets, perPerson } = data.train;
	const onsetsOf = (output: number) =>
		(onsets.starts[output + 1] - onsets.starts[output]) / perPerson;
	const shrunk = new Map<number, FittedOutput>();
	for (const members of byFrequency([...fitted.keys()], onsetsOf)) {
		const fitsAt = (share: number) =>
			members.map((output) => {
				const fit = fitted.get(output) as FittedOutput;
				return [output, atShare(data, output, fit, share)] as const;
			});
		const losses = shares.map((share) =>
			fitsAt(share).reduce((sum, [, { validationLoss }]) => sum + validationLoss, 0),
		);
		const best = shares[losses.indexOf(Math.min(...losses))];
		for (const [output, fit] of fitsAt(best)) shrunk.set(output, fit);
	}
	return shrunk;
}
