import { InputError } from "../../base/errors.js";
import { groupsBetween, quantileEdges } from "../calibration.js";
import { countUpTo, pick, ranking } from "../metrics.js";
import * as survival from "./follow-up.js";

type HorizonWeights = NonNullable<ReturnType<ReturnType<typeof outcomeAt>["weigh"]>>;

/**
 * The outcome of entries at a horizon, with inverse-probability-of-censoring weights.
 *
 * G(t), the Kaplan–Meier probability of still being observed after day t, gives the weights:
 *
 * - onset or death on day t ≤ horizon: 1 / G(t−), the probability just before the day;
 * - at risk beyond the horizon: 1 / G(horizon);
 * - censored by the horizon: 0.
 *
 * This is the definition of R's riskRegression with censoring model `~ 1`. With patient weights, G is estimated
 * with them and the weights are multiplied by them. The weighted share of onsets equals the Aalen–Johansen
 * estimate.
 */
export function outcomeAt({ time, status, patient }: survival.SortedFollowUp, horizon: number) {
	const entries = time.length;
	const within = countUpTo(time, horizon);
	const counts = new Float64Array(entries);
	const weights = new Float64Array(entries);
	const labels = new Uint8Array(entries);
	for (let i = 0; i < within; i++) labels[i] = Number(status[i] === survival.onset);
	return {
		/** By sorted entry: 1 for onset by the horizon. */
		labels,
		/**
		 * Null if undefined: no patient with a positive weight, or observation of all of them ends by the horizon. The next
		 * call overwrites the arrays, which are by sorted entry.
		 */
		weigh(patientWeights?: survival.PatientWeights) {
			let total = 0;
			for (let i = 0; i < entries; i++) {
				counts[i] = patientWeights ? patientWeights[patient[i]] : 1;
				total += counts[i];
			}
			let [atRisk, uncensored, onsets, others, lastStatus] = [total, 1, 0, 0, survival.censored];
			for (let i = 0; i < within; i++) {
				const count = counts[i];
				weights[i] = 0;
				if (count === 0) continue;
				lastStatus = status[i];
				// One loss after the other: the factors of one day multiply to that of the day.
				if (lastStatus === survival.censored) uncensored *= Math.max(0, 1 - count / atRisk);
				else {
					weights[i] = count / uncensored;
					if (lastStatus === survival.onset) onsets += weights[i];
					else others += weights[i];
				}
				atRisk -= count;
			}
			let beyond = 0;
			for (let i = within; i < entries; i++) {
				weights[i] = counts[i] === 0 ? 0 : counts[i] / uncensored;
				beyond += weights[i];
			}
			if (beyond === 0 && lastStatus === survival.censored) return null;
			return {
				/** How often each entry counts, and the sum of that. */
				counts,
				total,
				/** How many entries of the same follow-up each entry stands for. They sum to `total`. */
				weights,
				/**
				 * The cumulative incidence of onset at the horizon (Aalen–Johansen). The divisor is `total`, without rounding
				 * errors when everybody has an onset.
				 */
				observed: onsets / (onsets + others + beyond),
			};
		},
	};
}

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
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: readonly ArrayLike<number>[],
): (weights?: survival.PatientWeights) => OnsetScores[] {
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const scorers = predicted.map((risks) =>
		scorer(labels, survival.sortPredictions(followUp, risks)),
	);
	return (weights) => {
		const weighed = weigh(weights);
		return scorers.map((score) => (weighed ? score(weighed) : undefinedScores));
	};
}

function scorer(labels: Uint8Array, risks: Float64Array) {
	const { auroc, averagePrecision } = ranking(labels, risks);
	return ({ counts, weights, total, observed }: HorizonWeights): OnsetScores => {
		let [squares, expectedOnsets] = [0, 0];
		for (let i = 0; i < risks.length; i++) {
			squares += weights[i] * (labels[i] - risks[i]) ** 2;
			expectedOnsets += counts[i] * risks[i];
		}
		const observedOnsets = observed * total;
		return {
			auroc: orNull(auroc(weights)),
			averagePrecision: orNull(averagePrecision(weights)),
			brier: squares / total,
			observedOnsets,
			expectedOnsets,
			observedToExpected: expectedOnsets > 0 ? observedOnsets / expectedOnsets : null,
		};
	};
}

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/**
 * Decision curve (Vickers and Elkin): net benefit = TP/n − FP/n · threshold/(1 − threshold), where TP are treated
 * patients with onset by the horizon and FP treated patients without (death before onset included), both
 * corrected for censoring by the weights of `outcomeAt`. A net benefit of 0.01 is as good as finding one more
 * true onset per 100 patients without treating anybody in vain; treating nobody has a net benefit of 0.
 *
 * The returned function gives one point per threshold, in the order given, for any weights of patients. It
 * returns null if no patient has a positive weight, or the observation of all patients ends by the horizon.
 */
export function decisionCurve(
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
	thresholds: readonly number[],
) {
	const wrong = thresholds.find((one) => !(one >= 0 && one < 1));
	if (wrong !== undefined)
		throw new InputError(
			`decision curve: threshold ${wrong}; expected 0 or more, and less than 1`,
			{ field: "thresholds", value: wrong },
		);
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const ascending = thresholds.toSorted((a, b) => a - b);
	const risks = survival.sortPredictions(followUp, predicted);
	/** The number of thresholds that each predicted risk reaches. */
	const reached = new Int32Array(risks.length);
	for (let i = 0; i < risks.length; i++) reached[i] = countUpTo(ascending, risks[i]);
	return (weights?: survival.PatientWeights) => {
		const weighed = weigh(weights);
		if (!weighed) return null;
		const hits = new Float64Array(thresholds.length + 1);
		const misses = new Float64Array(thresholds.length + 1);
		for (let i = 0; i < reached.length; i++)
			(labels[i] ? hits : misses)[reached[i]] += weighed.weights[i];
		for (let i = thresholds.length - 1; i > 0; i--) {
			hits[i] += hits[i + 1];
			misses[i] += misses[i + 1];
		}
		const { observed, total } = weighed;
		return thresholds.map((threshold) => {
			const odds = threshold / (1 - threshold);
			const reached = countUpTo(ascending, threshold);
			return {
				threshold,
				/** Of treating patients whose predicted risk is at least the threshold, and of treating everybody. */
				model: (hits[reached] - odds * misses[reached]) / total,
				all: observed - odds * (1 - observed),
			};
		});
	};
}

/** Narrow bins of high risk, for rare onsets pooled over codes. */
export const highRiskShares = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995] as const;

/**
 * Predicted against observed risk in bins of predicted risk. `shares` places the edges between bins at quantiles
 * of the predictions for all entries, whatever the weights; a prediction on an edge belongs to the bin below it,
 * and equal edges count as one.
 */
export function onsetCalibration(
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
	shares: readonly number[],
) {
	const risks = survival.sortPredictions(followUp, predicted);
	const bins = groupsBetween(quantileEdges(risks, shares), risks).map((binIndices) => {
		const members = survival.takeEntries(followUp, binIndices);
		return { members, outcome: outcomeAt(members, horizon), risks: pick(risks, binIndices) };
	});
	const summarise = (
		{ members, outcome, risks }: (typeof bins)[0],
		weights?: survival.PatientWeights,
	) => {
		let [count, sum] = [0, 0];
		for (let i = 0; i < risks.length; i++) {
			const weight = weights ? weights[members.patient[i]] : 1;
			count += weight;
			sum += weight * risks[i];
		}
		return { count, predicted: sum / count, observed: outcome.weigh(weights)?.observed ?? null };
	};
	return {
		/**
		 * Per bin, from low to high: the mean predicted risk; the cumulative incidence at the horizon (Aalen–Johansen, death
		 * competing), null if the observation of all its patients ends by then, with 95 % limits, null also if it is 0 or 1;
		 * and patients, each counted as often as the weights say. Bins without patients are left out.
		 */
		bins: (weights?: survival.PatientWeights) =>
			bins.flatMap((bin) => {
				const summary = summarise(bin, weights);
				if (summary.count === 0) return [];
				const inside = summary.observed !== null && summary.observed > 0 && summary.observed < 1;
				const limits = inside
					? survival.pointAt(survival.aalenJohansen(bin.members, weights), horizon)
					: null;
				return [{ ...summary, low: limits?.low ?? null, high: limits?.high ?? null }];
			}),
		/**
		 * Mean distance of predicted and observed risk over bins, weighted by predicted onsets (patients × mean
		 * predicted risk). Bins with undefined observed risk are left out. Null if no bin is left, or if nothing is
		 * predicted to happen.
		 */
		error(weights?: survival.PatientWeights): number | null {
			let [distance, all] = [0, 0];
			for (const bin of bins) {
				const { count, predicted, observed } = summarise(bin, weights);
				if (count === 0 || observed === null) continue;
				distance += count * predicted * Math.abs(predicted - observed);
				all += count * predicted;
			}
			return all > 0 ? distance / all : null;
		},
	};
}
