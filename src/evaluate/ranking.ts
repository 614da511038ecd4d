import { ascendingOrder } from "./ascending-order.js";
import type { BinaryLabels } from "./check-labels.js";

/** The order of positives and negatives by score; equal scores count as one step. */
export interface Ranking {
	/**
	 * Σ precision · increase of recall over the distinct scores, from the highest. With `weights`, label i counts
	 * `weights[i]` times; NaN if a class is then missing.
	 */
	averagePrecision(weights?: ArrayLike<number>): number;
	/** P(a positive scores above a negative); ties count half. `weights` as above. */
	auroc(weights?: ArrayLike<number>): number;
}

/**
 * Sorts once; each metric then takes one pass for any weights. With `owners`, label i counts
 * `weights[owners[i]]` times.
 */
export function ranking(
	labels: BinaryLabels,
	scores: ArrayLike<number>,
	owners?: ArrayLike<number>,
): Ranking {
	const order = ascendingOrder(scores).reverse();
	const count = order.length;
	const positive = new Uint8Array(count);
	const owner = new Int32Array(count);
	/** 1 if the next score differs. */
	const ends = new Uint8Array(count);
	for (let i = 0; i < count; i++) {
		const at = order[i] as number;
		positive[i] = Number(labels[at]);
		owner[i] = owners ? (owners[at] as number) : at;
		ends[i] = Number(i + 1 === count || scores[order[i + 1] as number] !== scores[at]);
	}
	return {
		averagePrecision: (weights) => {
			let [hits, misses, area, own] = [0, 0, 0, 0];
			for (let i = 0; i < count; i++) {
				const weight = weights ? (weights[owner[i] as number] as number) : 1;
				if (positive[i]) own += weight;
				else misses += weight;
				if (!ends[i] || own === 0) continue;
				hits += own;
				area += own * (hits / (hits + misses));
				own = 0;
			}
			return hits > 0 && misses > 0 ? area / hits : Number.NaN;
		},
		auroc: (weights) => {
			let [hits, misses, area, own, other] = [0, 0, 0, 0, 0];
			for (let i = 0; i < count; i++) {
				const weight = weights ? (weights[owner[i] as number] as number) : 1;
				if (positive[i]) own += weight;
				else other += weight;
				if (!ends[i]) continue;
				area += other * (hits + own / 2);
				hits += own;
				misses += other;
				own = other = 0;
			}
			return hits > 0 && misses > 0 ? area / (hits * misses) : Number.NaN;
		},
	};
}
