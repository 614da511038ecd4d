import * as glm from "../../glm.js";
import { type AgeCurve, ageCurve, outcomesOf } from "./followed-landmarks.js";
import type { FittedOutput, HazardRegressionData } from "./hazard-regression.js";

/*
 * Effects that stand out of many in one sample are too large for others, and those of a code with few first records
 * may be nothing but chance. log h = share · (age curve beside the effects + effects) + (1 − share) · (age curve of all
 * people), with one share for codes that are about as frequent, by the first records of the validation patients.
 */

const shares = [1, 0.8, 0.6, 0.4, 0.2, 0] as const;

/** Outputs with fewer first records among training patients than the first of these have one share, and so on. */
const onsetLimits = [10, 100, 1000, Number.POSITIVE_INFINITY];

const between = (share: number, curve: AgeCurve, other: AgeCurve): AgeCurve => {
	const mean = (values: Float64Array, others: Float64Array) =>
		values.map((value, band) => share * value + (1 - share) * others[band]);
	return {
		mean: mean(curve.mean, other.mean),
		halfDifference: mean(curve.halfDifference, other.halfDifference),
	};
};

interface LinearOutput {
	readonly curve: AgeCurve;
	readonly effects: Float64Array;
}

function atShare(
	{ settings, rates, valid }: HazardRegressionData,
	output: number,
	{ curve, effects }: LinearOutput,
	share: number,
): FittedOutput {
	const shrunk = between(share, curve, ageCurve(rates, output));
	const learned = effects.map((effect) => share * effect);
	const outcomes = outcomesOf(settings, valid, output, shrunk);
	const loss = glm.lossOf(glm.poisson, outcomes, glm.linearPredictor(valid.features, learned));
	return { curve: shrunk, learned, validationLoss: loss - outcomes.logRates };
}

/** The outputs of a regression with effects, each at the share that suits those that are about as frequent. */
export function withSharedShrinkage(
	data: HazardRegressionData,
	fitted: ReadonlyMap<number, FittedOutput>,
): Map<number, FittedOutput> {
	const { onsets, perPerson } = data.train;
	const stratumOf = (output: number) => {
		const count = (onsets.starts[output + 1] - onsets.starts[output]) / perPerson;
		return onsetLimits.findIndex((limit) => count < limit);
	};
	const linear = [...fitted].flatMap(([output, { curve, learned }]) =>
		learned instanceof Float64Array ? [[output, { curve, effects: learned }] as const] : [],
	);
	const shrunk = new Map<number, FittedOutput>();
	for (const stratum of onsetLimits.keys()) {
		const members = linear.filter(([output]) => stratumOf(output) === stratum);
		const losses = shares.map((share) =>
			members.reduce(
				(sum, [output, fit]) => sum + atShare(data, output, fit, share).validationLoss,
				0,
			),
		);
		const best = shares[losses.indexOf(Math.min(...losses))];
		for (const [output, fit] of members) shrunk.set(output, atShare(data, output, fit, best));
	}
	return shrunk;
}
