import { InputError } from "../../base/errors.js";
import { countUpTo } from "../ascending-order.js";
import { outcomeAt } from "./at-horizon.js";
import { type PatientWeights, type SortedFollowUp, sortPredictions } from "./follow-up.js";

/** Net benefit of treating by a threshold of predicted risk. Treating nobody has a net benefit of 0. */
export interface DecisionPoint {
	readonly threshold: number;
	/** Of treating patients whose predicted risk is at least the threshold. */
	readonly model: number;
	/** Of treating everybody. */
	readonly all: number;
}

/**
 * Decision curve (Vickers and Elkin): net benefit = TP/n − FP/n · threshold/(1 − threshold), where TP are treated
 * patients with onset by the horizon and FP treated patients without (death before onset included), both
 * corrected for censoring by the weights of `outcomeAt`. A net benefit of 0.01 is as good as finding one more
 * true onset per 100 patients without treating anybody in vain.
 *
 * The returned function gives one point per threshold, in the order given, for any weights of patients. It
 * returns null if no patient has a positive weight, or the observation of all patients ends by the horizon.
 */
export function decisionCurve(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
	thresholds: readonly number[],
): (weights?: PatientWeights) => DecisionPoint[] | null {
	const wrong = thresholds.find((one) => !(one >= 0 && one < 1));
	if (wrong !== undefined)
		throw new InputError(
			`decision curve: threshold ${wrong}; expected 0 or more, and less than 1`,
			{
				field: "thresholds",
				value: wrong,
			},
		);
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const ascending = thresholds.toSorted((a, b) => a - b);
	const risks = sortPredictions(followUp, predicted);
	/** The number of thresholds that each predicted risk reaches. */
	const reached = new Int32Array(risks.length);
	for (let at = 0; at < risks.length; at++) reached[at] = countUpTo(ascending, risks[at]!);
	return (weights) => {
		const weighed = weigh(weights);
		if (!weighed) return null;
		const hits = new Float64Array(thresholds.length + 1);
		const misses = new Float64Array(thresholds.length + 1);
		for (let at = 0; at < reached.length; at++)
			(labels[at] ? hits : misses)[reached[at]!]! += weighed.weights[at]!;
		for (let at = thresholds.length - 1; at > 0; at--) {
			hits[at]! += hits[at + 1]!;
			misses[at]! += misses[at + 1]!;
		}
		const { observed, total } = weighed;
		return thresholds.map((threshold) => {
			const odds = threshold / (1 - threshold);
			const at = countUpTo(ascending, threshold);
			return {
				threshold,
				model: (hits[at]! - odds * misses[at]!) / total,
				all: observed - odds * (1 - observed),
			};
		});
	};
}
