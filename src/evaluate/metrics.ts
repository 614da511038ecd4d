import type { BinaryLabels } from "./binary-answers.js";
import { checkAnswers, checkBothClasses, checkProbabilities } from "./binary-answers.js";
import { ranking } from "./ranking.js";

/** The area under precision over recall, without interpolation. */
export function averagePrecision(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkAnswers(labels, scores, "average precision");
	checkBothClasses(labels, "average precision");
	return ranking(labels, scores).averagePrecision();
}

/** P(a positive scores above a negative), ties half. */
export function auroc(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkAnswers(labels, scores, "AUROC");
	checkBothClasses(labels, "AUROC");
	return ranking(labels, scores).auroc();
}

/** Mean squared distance of the probability from what came. */
export function brier(labels: BinaryLabels, probabilities: ArrayLike<number>): number {
	return meanOf("Brier score", labels, probabilities, (label, p) => (p - label) ** 2);
}

/** Nobody is more certain than this: scikit-learn's bound up to version 1.2. */
const certain = 1e-15;

/** Mean −log of the probability of what came; certainty is taken for all but certain. */
export function logLoss(labels: BinaryLabels, probabilities: ArrayLike<number>): number {
	return meanOf("log loss", labels, probabilities, (label, probability) => {
		const p = Math.min(Math.max(probability, certain), 1 - certain);
		return -Math.log(label === 1 ? p : 1 - p);
	});
}

function meanOf(
	metric: string,
	labels: BinaryLabels,
	probabilities: ArrayLike<number>,
	loss: (label: number, probability: number) => number,
): number {
	checkAnswers(labels, probabilities, metric);
	checkProbabilities(probabilities, metric);
	let sum = 0;
	for (let at = 0; at < labels.length; at++)
		sum += loss(Number(labels[at]), probabilities[at] as number);
	return sum / labels.length;
}
