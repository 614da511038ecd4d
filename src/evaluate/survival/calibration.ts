import { binOf } from "../calibration.js";
import { pick, quantile } from "../order-statistics.js";
import { outcomeAt } from "./at-horizon.js";
import { aalenJohansen, pointAt } from "./curves.js";
import {
	type PatientWeights,
	type SortedFollowUp,
	sortPredictions,
	takeEntries,
} from "./follow-up.js";

/** Tenths of patients by predicted risk. */
export const decileShares = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] as const;

/** Narrow bins of high risk, for rare onsets pooled over codes. */
export const highRiskShares = [0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995] as const;

/** Patients with similar predicted risks. */
export interface RiskBin {
	/** Mean predicted risk. */
	readonly predicted: number;
	/**
	 * Cumulative incidence at the horizon (Aalen–Johansen, death competing) among these patients. Null if the
	 * observation of all of them ends by the horizon.
	 */
	readonly observed: number | null;
	/** 95 % limits of `observed` (see `aalenJohansen`). Null if `observed` is null, 0 or 1. */
	readonly low: number | null;
	readonly high: number | null;
	/** Patients, each counted as often as the weights say. */
	readonly count: number;
}

export interface OnsetCalibration {
	/** Predicted and observed risk per bin, from low to high; bins without patients are left out. */
	bins(weights?: PatientWeights): RiskBin[];
	/**
	 * Mean distance of predicted and observed risk over bins, weighted by predicted onsets (patients × mean
	 * predicted risk). Bins with undefined observed risk are left out. Null if no bin is left, or if nothing is
	 * predicted to happen.
	 */
	error(weights?: PatientWeights): number | null;
}

/**
 * Predicted against observed risk in bins of predicted risk. `shares` places the edges between bins at quantiles
 * of the predictions for all entries, whatever the weights; a prediction on an edge belongs to the bin below it,
 * and equal edges count as one.
 */
export function onsetCalibration(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
	shares: readonly number[],
): OnsetCalibration {
	const risks = sortPredictions(followUp, predicted);
	const ascending = risks.toSorted();
	const edges = risks.length ? [...new Set(shares.map((share) => quantile(ascending, share)))] : [];
	const binMembers = Array.from({ length: edges.length + 1 }, (): number[] => []);
	for (const [index, risk] of risks.entries()) binMembers[binOf(edges, risk)].push(index);
	const bins = binMembers.map((binIndices) => {
		const members = takeEntries(followUp, binIndices);
		return { members, outcome: outcomeAt(members, horizon), risks: pick(risks, binIndices) };
	});
	const summarise = ({ members, outcome, risks }: (typeof bins)[0], weights?: PatientWeights) => {
		let [count, sum] = [0, 0];
		for (let i = 0; i < risks.length; i++) {
			const weight = weights ? weights[members.patient[i]] : 1;
			count += weight;
			sum += weight * risks[i];
		}
		return { count, predicted: sum / count, observed: outcome.weigh(weights)?.observed ?? null };
	};
	return {
		bins: (weights) =>
			bins.flatMap((bin) => {
				const summary = summarise(bin, weights);
				if (summary.count === 0) return [];
				const inside = summary.observed !== null && summary.observed > 0 && summary.observed < 1;
				const limits = inside ? pointAt(aalenJohansen(bin.members, weights), horizon) : null;
				return [{ ...summary, low: limits?.low ?? null, high: limits?.high ?? null }];
			}),
		error: (weights) => {
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
