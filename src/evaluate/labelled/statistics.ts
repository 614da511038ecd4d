import { random } from "../../base/random.js";
import type { Statistic } from "../bootstrap.js";
import { probabilityBins } from "../calibration.js";
import { ranking } from "../metrics.js";
import { quantile } from "../order-statistics.js";

/** Binary labels of patients; a patient may have several. */
export interface LabelledPatients {
	readonly targets: Uint8Array;
	/** The index of each label's patient, from 0. */
	readonly patients: Int32Array;
	readonly count: number;
	/** How many patients each label stands for; 1 if left out. */
	readonly weights?: Float64Array;
}

type Statistics = Readonly<Record<string, Statistic>>;

/** Turns a statistic of labels into one of patients. */
function ofPatients(
	{ patients, weights: ofLabels }: LabelledPatients,
	statistic: Statistic,
): Statistic {
	const own = new Float64Array(patients.length);
	return (weights) => {
		for (let at = 0; at < own.length; at++) own[at] = weights[patients[at]] * (ofLabels?.[at] ?? 1);
		return statistic(own);
	};
}

/** How well scores rank positives above negatives. */
export function rankStatistics(labelled: LabelledPatients, scores: ArrayLike<number>): Statistics {
	const { averagePrecision, auroc } = ranking(labelled.targets, scores);
	return { auprc: ofPatients(labelled, averagePrecision), auroc: ofPatients(labelled, auroc) };
}

/** How far probabilities are from the labels. */
export function probabilityStatistics(
	labelled: LabelledPatients,
	probabilities: ArrayLike<number>,
): Statistics {
	const { targets } = labelled;
	return {
		brier: ofPatients(labelled, (weights) => {
			let [sum, total] = [0, 0];
			for (let at = 0; at < targets.length; at++) {
				sum += weights[at] * (probabilities[at] - targets[at]) ** 2;
				total += weights[at];
			}
			return sum / total;
		}),
		calibrationError: calibrationBins(labelled, probabilities).error("predictions"),
	};
}

/** The number of bins with at least a hundred labels each: three to ten. */
export const binsFor = (targets: number): number =>
	Math.max(3, Math.min(10, Math.floor(targets / 100)));

/** Bins with equal numbers of labels. */
export function calibrationBins(
	{ targets, patients, count, weights }: LabelledPatients,
	probabilities: ArrayLike<number>,
) {
	const sorted = Float64Array.from(probabilities).sort();
	const size = binsFor(targets.length);
	const edges = Array.from({ length: size - 1 }, (_, i) => quantile(sorted, (i + 1) / size));
	const bins = probabilityBins(count, [...new Set(edges)]);
	for (let at = 0; at < targets.length; at++)
		bins.add(patients[at], probabilities[at], targets[at] === 1, weights?.[at]);
	return bins;
}

/**
 * Means over few-shot draws. Each bootstrap draw of patients also resamples the few-shot draws, so the interval
 * is over both.
 */
export function fewShotStatistics(
	labelled: LabelledPatients,
	scoresByDraw: readonly ArrayLike<number>[],
): Statistics {
	const drawn = scoresByDraw.map((scores) => rankStatistics(labelled, scores));
	const mean =
		(metric: string): Statistic =>
		(weights) => {
			const { integer } = random(seedOf(weights));
			const plain = isEven(weights);
			const times = new Uint32Array(drawn.length);
			for (let i = 0; i < drawn.length; i++) times[plain ? i : integer(drawn.length)] += 1;
			return drawn.reduce(
				(sum, own, i) => (times[i] ? sum + (times[i] * own[metric](weights)) / drawn.length : sum),
				0,
			);
		};
	return { auprc: mean("auprc"), auroc: mean("auroc") };
}

function isEven(weights: ArrayLike<number>): boolean {
	for (let at = 0; at < weights.length; at++) if (weights[at] !== weights[0]) return false;
	return true;
}

/** A seed that depends on the weights alone. */
function seedOf(weights: ArrayLike<number>): number {
	let seed = 0;
	for (let at = 0; at < weights.length; at++) seed = (Math.imul(seed, 31) + weights[at]) | 0;
	return seed;
}
