import { random } from "../../base/random.js";
import type { Statistic } from "../bootstrap.js";
import { probabilityBins } from "../probability-bins.js";
import { quantile } from "../quantile.js";
import { ranking } from "../ranking.js";

/** Questions and their answers; several may be about one patient. */
export interface Answered {
	readonly answers: Uint8Array;
	/** The number of each question's patient among those measured. */
	readonly patients: Int32Array;
	readonly count: number;
}

type Statistics = Readonly<Record<string, Statistic>>;

/** A statistic of questions as one of patients. */
function ofPatients({ patients }: Answered, statistic: Statistic): Statistic {
	const own = new Float64Array(patients.length);
	return (weights) => {
		for (let at = 0; at < own.length; at++) own[at] = weights[patients[at]!]!;
		return statistic(own);
	};
}

/** How well scores put positives before negatives. */
export function rankStatistics(answered: Answered, scores: ArrayLike<number>): Statistics {
	const { averagePrecision, auroc } = ranking(answered.answers, scores, answered.patients);
	return { auprc: averagePrecision, auroc };
}

/** How far probabilities are from what came. */
export function probabilityStatistics(
	answered: Answered,
	probabilities: ArrayLike<number>,
): Statistics {
	const { answers } = answered;
	return {
		brier: ofPatients(answered, (weights) => {
			let [sum, total] = [0, 0];
			for (let at = 0; at < answers.length; at++) {
				sum += weights[at]! * (probabilities[at]! - answers[at]!) ** 2;
				total += weights[at]!;
			}
			return sum / total;
		}),
		calibrationError: calibrationBins(answered, probabilities).error("answers"),
	};
}

/** How many bins hold at least a hundred answers each: three to ten. */
export const binsFor = (answers: number): number =>
	Math.max(3, Math.min(10, Math.floor(answers / 100)));

/** Bins of as many answers each. */
export function calibrationBins(
	{ answers, patients, count }: Answered,
	probabilities: ArrayLike<number>,
) {
	const sorted = Float64Array.from(probabilities).sort();
	const size = binsFor(answers.length);
	const edges = Array.from({ length: size - 1 }, (_, i) => quantile(sorted, (i + 1) / size));
	const bins = probabilityBins(count, [...new Set(edges)]);
	for (let at = 0; at < answers.length; at++)
		bins.add(patients[at]!, probabilities[at]!, answers[at] === 1);
	return bins;
}

/**
 * Means over draws of few labels. When patients are drawn anew so are the draws, by a stream of the
 * patients' own: the interval is over both.
 */
export function fewShotStatistics(
	answered: Answered,
	scoresByDraw: readonly ArrayLike<number>[],
): Statistics {
	const drawn = scoresByDraw.map((scores) => rankStatistics(answered, scores));
	const mean = (metric: string): Statistic =>
		onceForEach((weights, key) => {
			const { integer } = random(key);
			const plain = isEven(weights);
			const times = new Uint32Array(drawn.length);
			for (let i = 0; i < drawn.length; i++) times[plain ? i : integer(drawn.length)]! += 1;
			return drawn.reduce(
				(sum, own, i) => (times[i] ? sum + (times[i] * own[metric]!(weights)) / drawn.length : sum),
				0,
			);
		});
	return { auprc: mean("auprc"), auroc: mean("auroc") };
}

function isEven(weights: ArrayLike<number>): boolean {
	for (let at = 0; at < weights.length; at++) if (weights[at] !== weights[0]) return false;
	return true;
}

/** Remembers the last weights it was asked about: a row and its differences ask for the same. */
function onceForEach(statistic: (weights: ArrayLike<number>, key: number) => number): Statistic {
	let last = { key: Number.NaN, value: Number.NaN };
	return (weights) => {
		let key = 0;
		for (let at = 0; at < weights.length; at++) key = (Math.imul(key, 31) + weights[at]!) | 0;
		if (key !== last.key) last = { key, value: statistic(weights, key) };
		return last.value;
	};
}
