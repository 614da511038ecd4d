import { ranking } from "../metrics.js";
import { outcomeAt } from "./at-horizon.js";
import * as survival from "./follow-up.js";

type HorizonWeights = NonNullable<ReturnType<ReturnType<typeof outcomeAt>["weigh"]>>;

/** How well predicted risks of onset by a horizon agree with what was observed. Null where undefined. */
export interface OnsetScores {
	/** Sum over patients of −log of the predicted probability of what was observed: onset by the horizon, or none. */
	readonly nats: number | null;
	/**
	 * P(a patient with onset by the horizon has a higher predicted risk than one without); ties count half.
	 * Patients who died without onset count as not having it (cumulative/dynamic, death competing). Null if
	 * nobody has, or everybody has, an onset.
	 */
	readonly auroc: number | null;
	/** Area under the precision–recall curve, without interpolation. Null as for `auroc`. */
	readonly averagePrecision: number | null;
	/** Sum of squared differences between predicted risk and outcome (0 or 1): patients × Brier score. */
	readonly squaredError: number | null;
	/** The same if everybody had the observed cumulative incidence as predicted risk. */
	readonly incidenceError: number | null;
	/** Onsets by the horizon had nobody been censored: patients × cumulative incidence (Aalen–Johansen). */
	readonly observedOnsets: number | null;
	/** The sum of predicted risks. */
	readonly expectedOnsets: number | null;
}

export const scoreNames = [
	"nats",
	"auroc",
	"averagePrecision",
	"squaredError",
	"incidenceError",
	"observedOnsets",
	"expectedOnsets",
] as const satisfies readonly (keyof OnsetScores)[];

const undefinedScores: OnsetScores = {
	nats: null,
	auroc: null,
	averagePrecision: null,
	squaredError: null,
	incidenceError: null,
	observedOnsets: null,
	expectedOnsets: null,
};

/** Predicted risks are taken as at least this and at most 1 minus this where their logarithm is needed. */
export const leastRisk = 1e-6;

export const boundedRisk = (risk: number): number =>
	Math.min(Math.max(risk, leastRisk), 1 - leastRisk);

/** −log of the predicted probability of the outcome, 1 or 0. */
export function lossOf(label: number, risk: number): number {
	const bounded = boundedRisk(risk);
	return -Math.log(label === 1 ? bounded : 1 - bounded);
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/**
 * Scores the predictions of several models for the same patients at one horizon. `predicted` has one array per
 * model: the probability of onset by the horizon, per entry. Censoring is corrected by the weights of
 * `outcomeAt`; AUROC and Brier score are those of R's riskRegression.
 *
 * Sorts once. The returned function takes any weights of patients and returns one `OnsetScores` per model, in which
 * everything is null if no patient has a positive weight or the observation of all patients ends by the horizon. For
 * many weights, `scoreDraws` is faster.
 *
 * @example
 * const score = onsetScores(sortFollowUp({ time, status }), 365, [risks, baselineRisks]);
 * const [ofModel, ofBaseline] = score();
 */
export function onsetScores(
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: readonly ArrayLike<number>[],
): (weights?: survival.PatientWeights) => OnsetScores[] {
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const scorers = predicted.map((one) => {
		const risks = survival.sortPredictions(followUp, one);
		const { auroc, averagePrecision } = ranking(labels, risks);
		return ({ counts, weights, total, observed }: HorizonWeights): OnsetScores => {
			let nats = 0;
			let squaredError = 0;
			let expectedOnsets = 0;
			for (let i = 0; i < risks.length; i++) {
				nats += weights[i] * lossOf(labels[i], risks[i]);
				squaredError += weights[i] * (labels[i] - risks[i]) ** 2;
				expectedOnsets += counts[i] * risks[i];
			}
			return {
				nats,
				auroc: orNull(auroc(weights)),
				averagePrecision: orNull(averagePrecision(weights)),
				squaredError,
				incidenceError: total * observed * (1 - observed),
				observedOnsets: observed * total,
				expectedOnsets,
			};
		};
	});
	return (weights) => {
		const weighed = weigh(weights);
		return scorers.map((score) => (weighed ? score(weighed) : undefinedScores));
	};
}
