import type { BinaryLabels } from "./check-labels.js";
import { checkBothClasses, checkLabels, checkProbabilities } from "./check-labels.js";
import { ranking } from "./ranking.js";

/** Area under the precision–recall curve, without interpolation. */
export function averagePrecision(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkLabels(labels, scores, "average precision");
	checkBothClasses(labels, "average precision");
	return ranking(labels, scores).averagePrecision();
}

/** P(a positive scores above a negative); ties count half. */
export function auroc(labels: BinaryLabels, scores: ArrayLike<number>): number {
	checkLabels(labels, scores, "AUROC");
	checkBothClasses(labels, "AUROC");
	return ranking(labels, scores).auroc();
}

/** Mean squared difference between probability and label. */
export function brier(labels: BinaryLabels, probabilities: ArrayLike<number>): number {
	return meanOf("Brier score", labels, probabilities, (label, p) => (p - label) ** 2);
}

/** Probabilities are clipped to this distance from 0 and 1, as in scikit-learn up to version 1.2. */
const certain = 1e-15;

/** Mean −log of the probability of the label; probabilities of 0 and 1 are clipped. */
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
	checkLabels(labels, probabilities, metric);
	checkProbabilities(probabilities, metric);
	let sum = 0;
	for (let at = 0; at < labels.length; at++)
		sum += loss(Number(labels[at]), probabilities[at] as number);
	return sum / labels.length;
}
