import { InputError } from "../../base/errors.js";
import { groupsBetween, quantileEdges } from "../calibration.js";
import { countUpTo, pick } from "../metrics.js";
import * as survival from "./follow-up.js";

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
				const count = patientWeights ? patientWeights[patient[i]] : 1;
				counts[i] = count;
				total += count;
			}
			let atRisk = total;
			let uncensored = 1;
			let onsets = 0;
			let others = 0;
			let lastStatus: number = survival.censored;
			for (let i = 0; i < within; i++) {
				const count = counts[i];
				let weight = 0;
				if (count > 0) {
					lastStatus = status[i];
					// One loss after the other: the factors of one day multiply to that of the day.
					if (lastStatus === survival.censored) uncensored *= Math.max(0, 1 - count / atRisk);
					else {
						weight = count / uncensored;
						if (lastStatus === survival.onset) onsets += weight;
						else others += weight;
					}
					atRisk -= count;
				}
				weights[i] = weight;
			}
			let beyond = 0;
			for (let i = within; i < entries; i++) {
				const weight = counts[i] === 0 ? 0 : counts[i] / uncensored;
				weights[i] = weight;
				beyond += weight;
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
		return { members, summarise: binSummary(members, pick(risks, binIndices), horizon) };
	});
	return {
		/**
		 * Per bin, from low to high: the mean predicted risk; the cumulative incidence at the horizon (Aalen–Johansen, death
		 * competing), null if the observation of all its patients ends by then, with 95 % limits, null also if it is 0 or 1;
		 * and patients, each counted as often as the weights say. Bins without patients are left out.
		 */
		bins: (weights?: survival.PatientWeights) =>
			bins.flatMap((bin) => {
				const summary = bin.summarise(weights);
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
				const { count, predicted, observed } = bin.summarise(weights);
				if (count === 0 || observed === null) continue;
				distance += count * predicted * Math.abs(predicted - observed);
				all += count * predicted;
			}
			return all > 0 ? distance / all : null;
		},
	};
}

/**
 * Patients of a bin, their mean predicted risk, and the observed one, for any weights. A patient's entries that end on the
 * same day in the same way, of different codes, are one entry that counts as often: much fewer than all of them.
 */
function binSummary(members: survival.SortedFollowUp, risks: Float64Array, horizon: number) {
	const { time, status, patient } = members;
	const firsts: number[] = [];
	const copies: number[] = [];
	const riskSums: number[] = [];
	let entryOf = new Map<number, number>();
	for (let i = 0; i < time.length; i++) {
		if (i > 0 && (time[i] !== time[i - 1] || status[i] !== status[i - 1])) entryOf = new Map();
		const entry = entryOf.get(patient[i]);
		if (entry === undefined) {
			entryOf.set(patient[i], firsts.length);
			firsts.push(i);
			copies.push(1);
			riskSums.push(risks[i]);
		} else {
			copies[entry] += 1;
			riskSums[entry] += risks[i];
		}
	}
	const owners = Int32Array.from(firsts, (i) => patient[i]);
	const [counts, sums] = [Float64Array.from(copies), Float64Array.from(riskSums)];
	const entries = Int32Array.from(firsts.keys());
	const merged = { ...survival.takeEntries(members, firsts), patient: entries };
	const outcome = outcomeAt(merged, horizon);
	const mergedWeights = new Float64Array(firsts.length);
	return (weights?: survival.PatientWeights) => {
		let [count, sum] = [0, 0];
		for (let entry = 0; entry < owners.length; entry++) {
			const weight = weights ? weights[owners[entry]] : 1;
			mergedWeights[entry] = weight * counts[entry];
			count += mergedWeights[entry];
			sum += weight * sums[entry];
		}
		return {
			count,
			predicted: sum / count,
			observed: outcome.weigh(mergedWeights)?.observed ?? null,
		};
	};
}
