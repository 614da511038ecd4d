import { ranking } from "../ranking.js";
import { type HorizonWeights, outcomeAt } from "./at-horizon.js";
import { type PatientWeights, type SortedFollowUp, sortPredictions } from "./follow-up.js";

/** How well predicted risks of onset by a horizon agree with what was observed. Null where undefined. */
export interface OnsetScores {
	/**
	 * P(a patient with onset by the horizon has a higher predicted risk than one without); ties count half.
	 * Patients who died without onset count as not having it (cumulative/dynamic, death competing). Null if
	 * nobody has, or everybody has, an onset.
	 */
	readonly auroc: number | null;
	/** Area under the precision–recall curve, without interpolation. Null as for `auroc`. */
	readonly averagePrecision: number | null;
	/** Mean squared difference between predicted risk and outcome (0 or 1). */
	readonly brier: number | null;
	/**
	 * 1 − Brier score / Brier score of predicting the observed incidence for everybody: 1 is perfect, 0 no better
	 * than the incidence. Null if the observed incidence is 0 or 1.
	 */
	readonly scaledBrier: number | null;
	/** Onsets by the horizon had nobody been censored: patients × cumulative incidence (Aalen–Johansen). */
	readonly observedOnsets: number | null;
	/** The sum of predicted risks. */
	readonly expectedOnsets: number | null;
	/** `observedOnsets / expectedOnsets`; above 1, risks are too low. Null if all predicted risks are 0. */
	readonly observedToExpected: number | null;
}

const undefinedScores: OnsetScores = {
	auroc: null,
	averagePrecision: null,
	brier: null,
	scaledBrier: null,
	observedOnsets: null,
	expectedOnsets: null,
	observedToExpected: null,
};

/**
 * Scores the predictions of several models for the same patients at one horizon. `predicted` has one array per
 * model: the probability of onset by the horizon, per entry. Censoring is corrected by the weights of
 * `outcomeAt`; AUROC and Brier score are those of R's riskRegression.
 *
 * Sorts once. The returned function takes one pass per score for any weights of patients and returns one
 * `OnsetScores` per model, in which everything is null if no patient has a positive weight or the observation of
 * all patients ends by the horizon.
 *
 * @example
 * const score = onsetScores(sortFollowUp({ time, status }), 365, [own, baseline]);
 * const [ours, theirs] = score();
 */
export function onsetScores(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: readonly ArrayLike<number>[],
): (weights?: PatientWeights) => OnsetScores[] {
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const scorers = predicted.map((given) => scorer(labels, sortPredictions(followUp, given)));
	return (weights) => {
		const weighed = weigh(weights);
		return scorers.map((score) => (weighed ? score(weighed) : undefinedScores));
	};
}

function scorer(labels: Uint8Array, risks: Float64Array) {
	const { auroc, averagePrecision } = ranking(labels, risks);
	return ({ counts, weights, total, observed }: HorizonWeights): OnsetScores => {
		let [squares, expectedOnsets] = [0, 0];
		for (let at = 0; at < risks.length; at++) {
			squares += weights[at]! * (labels[at]! - risks[at]!) ** 2;
			expectedOnsets += counts[at]! * risks[at]!;
		}
		const brier = squares / total;
		// Predicting the incidence F for everybody: F(1 − F)² + (1 − F)F².
		const uninformed = observed * (1 - observed);
		const observedOnsets = observed * total;
		return {
			auroc: orNull(auroc(weights)),
			averagePrecision: orNull(averagePrecision(weights)),
			brier,
			scaledBrier: uninformed > 0 ? 1 - brier / uninformed : null,
			observedOnsets,
			expectedOnsets,
			observedToExpected: expectedOnsets > 0 ? observedOnsets / expectedOnsets : null,
		};
	};
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value);
