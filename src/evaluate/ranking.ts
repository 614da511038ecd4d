import type { BinaryLabels } from "./binary-answers.js";

/** How scores order positives and negatives; equal scores stand together. */
export interface Ranking {
	/**
	 * Σ precision · gain of recall over the distinct scores, from the highest. With `weights`, label i
	 * counts so many times; NaN where one class is then missing.
	 */
	averagePrecision(weights?: ArrayLike<number>): number;
	/** P(a positive scores above a negative), ties half. With `weights` as above. */
	auroc(weights?: ArrayLike<number>): number;
}

/** Sorts once; then each question, with whatever weights, takes one pass. */
export function ranking(labels: BinaryLabels, scores: ArrayLike<number>): Ranking {
	const order = Int32Array.from({ length: labels.length }, (_, at) => at).sort(
		(a, b) => (scores[b] as number) - (scores[a] as number),
	);
	/** Calls `take` with the weight of each class at each distinct score, highest first. */
	const overScores = (
		weights: ArrayLike<number> | undefined,
		take: (positives: number, negatives: number) => void,
	) => {
		let [positives, negatives] = [0, 0];
		for (let i = 0; i < order.length; i++) {
			const at = order[i] as number;
			const weight = weights ? (weights[at] as number) : 1;
			if (labels[at]) positives += weight;
			else negatives += weight;
			if (i + 1 < order.length && scores[order[i + 1] as number] === scores[at]) continue;
			take(positives, negatives);
			[positives, negatives] = [0, 0];
		}
	};
	const totals = (weights: ArrayLike<number> | undefined) => {
		let [positives, negatives] = [0, 0];
		overScores(weights, (p, n) => {
			positives += p;
			negatives += n;
		});
		return { positives, negatives, both: positives > 0 && negatives > 0 };
	};
	return {
		averagePrecision: (weights) => {
			const total = totals(weights);
			if (!total.both) return Number.NaN;
			let [hits, misses, area] = [0, 0, 0];
			overScores(weights, (positives, negatives) => {
				hits += positives;
				misses += negatives;
				if (positives > 0) area += positives * (hits / (hits + misses));
			});
			return area / total.positives;
		},
		auroc: (weights) => {
			const total = totals(weights);
			if (!total.both) return Number.NaN;
			let [hits, area] = [0, 0];
			overScores(weights, (positives, negatives) => {
				area += negatives * (hits + positives / 2);
				hits += positives;
			});
			return area / (total.positives * total.negatives);
		},
	};
}
