import { countUpTo } from "../ascending-order.js";
import { onset, type PatientWeights, type SortedFollowUp, sortPredictions } from "./follow-up.js";

/**
 * Harrell's C: among pairs of patients of whom one had an onset while the other was still at risk, the share in
 * which the first had the higher predicted risk; ties in risk count half. Death ends the time at risk as
 * censoring does (cause-specific), after an onset on the same day. Two onsets on one day are no pair. It equals
 * `concordance` of R's survival with deaths censored. Censoring is not corrected for: unlike AUROC at a
 * horizon, C depends on how long patients were observed.
 *
 * Sorts once. The returned function takes n log n steps for any weights of patients, and returns null if there
 * is no pair.
 */
export function harrellC(
	followUp: SortedFollowUp,
	predicted: ArrayLike<number>,
): (weights?: PatientWeights) => number | null {
	const { time, status, patient } = followUp;
	const risks = sortPredictions(followUp, predicted);
	// The number of risks up to each: equal for equal risks, and higher for higher ones.
	const sorted = risks.toSorted();
	const ranks = new Int32Array(risks.length);
	for (let at = 0; at < ranks.length; at++) ranks[at] = countUpTo(sorted, risks[at]!) - 1;
	const later = rankSums(risks.length);
	return (weights) => {
		const weightAt = (at: number) => (weights ? weights[patient[at]!]! : 1);
		later.clear();
		let [concordant, pairs] = [0, 0];
		// From the last day to the first: `later` holds the patients who outlast the onset at hand.
		for (let at = time.length - 1; at >= 0; ) {
			if (status[at] !== onset) {
				later.add(ranks[at]!, weightAt(at));
				at--;
				continue;
			}
			const last = at;
			for (; at >= 0 && status[at] === onset && time[at] === time[last]; at--) {
				const weight = weightAt(at);
				if (weight === 0) continue;
				concordant += weight * (later.below(ranks[at]!) + later.at(ranks[at]!) / 2);
				pairs += weight * later.total();
			}
			for (let same = at + 1; same <= last; same++) later.add(ranks[same]!, weightAt(same));
		}
		return pairs > 0 ? concordant / pairs : null;
	};
}

/** Sums of weights by rank, with sums over all lower ranks in log n steps (a Fenwick tree). */
function rankSums(size: number) {
	const own = new Float64Array(size);
	const tree = new Float64Array(size + 1);
	let total = 0;
	return {
		clear: () => {
			own.fill(0);
			tree.fill(0);
			total = 0;
		},
		add: (rank: number, weight: number) => {
			if (weight === 0) return;
			own[rank]! += weight;
			total += weight;
			for (let node = rank + 1; node <= size; node += node & -node) tree[node]! += weight;
		},
		at: (rank: number) => own[rank]!,
		below: (rank: number) => {
			let sum = 0;
			for (let node = rank; node > 0; node -= node & -node) sum += tree[node]!;
			return sum;
		},
		total: () => total,
	};
}
