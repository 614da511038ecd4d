import { countUpTo } from "../ascending-order.js";
import { censored, onset, type PatientWeights, type SortedFollowUp } from "./follow-up.js";

/** The outcome at a horizon, by sorted entry, and the weights that correct for censoring. */
export interface OutcomeAtHorizon {
	/** 1 for onset by the horizon. */
	readonly labels: Uint8Array;
	/** Null if undefined: no patient with a positive weight, or observation of all of them ends by the horizon. */
	weigh(weights?: PatientWeights): HorizonWeights | null;
}

/** Arrays are by sorted entry. The next call of `weigh` overwrites them. */
export interface HorizonWeights {
	/** How often each entry counts. */
	readonly counts: Float64Array;
	/** How many entries of the same follow-up each entry stands for. They sum to `total`. */
	readonly weights: Float64Array;
	/** The sum of `counts`. */
	readonly total: number;
	/** The cumulative incidence of onset at the horizon (Aalen–Johansen). */
	readonly observed: number;
}

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
export function outcomeAt(
	{ time, status, patient }: SortedFollowUp,
	horizon: number,
): OutcomeAtHorizon {
	const entries = time.length;
	const within = countUpTo(time, horizon);
	const counts = new Float64Array(entries);
	const weights = new Float64Array(entries);
	const labels = new Uint8Array(entries);
	for (let at = 0; at < within; at++) labels[at] = Number(status[at] === onset);
	return {
		labels,
		weigh: (given) => {
			let total = 0;
			for (let at = 0; at < entries; at++) {
				counts[at] = given ? given[patient[at]!]! : 1;
				total += counts[at]!;
			}
			let [atRisk, uncensored, onsets, others, lastStatus] = [total, 1, 0, 0, censored];
			for (let at = 0; at < within; at++) {
				const count = counts[at]!;
				weights[at] = 0;
				if (count === 0) continue;
				lastStatus = status[at]!;
				// One loss after the other: the factors of one day multiply to that of the day.
				if (lastStatus === censored) uncensored *= Math.max(0, 1 - count / atRisk);
				else {
					weights[at] = count / uncensored;
					if (lastStatus === onset) onsets += weights[at]!;
					else others += weights[at]!;
				}
				atRisk -= count;
			}
			let beyond = 0;
			for (let at = within; at < entries; at++) {
				weights[at] = counts[at]! === 0 ? 0 : counts[at]! / uncensored;
				beyond += weights[at]!;
			}
			if (beyond === 0 && lastStatus === censored) return null;
			// The divisor is `total`, without rounding errors when everybody has an onset.
			return { counts, weights, total, observed: onsets / (onsets + others + beyond) };
		},
	};
}
