import { InputError } from "../base/errors.js";

/** Binary labels; true or 1 is positive. */
export type BinaryLabels = ArrayLike<boolean | number>;

/** Rejects labels and scores of which no metric can be computed. */
export function checkLabels(labels: BinaryLabels, scores: ArrayLike<number>, metric: string): void {
	if (labels.length !== scores.length)
		throw new InputError(
			`${metric}: ${labels.length} labels and ${scores.length} scores; expected one score per label`,
		);
	if (labels.length === 0)
		throw new InputError(`${metric}: there are no labels; expected at least one`);
	for (let at = 0; at < scores.length; at++)
		if (Number.isNaN(scores[at]))
			throw new InputError(`${metric}: score ${at} is not a number; expected one for every label`);
}

/** Rejects labels that are all of one class. */
export function checkBothClasses(labels: BinaryLabels, metric: string): void {
	let positive = 0;
	for (let at = 0; at < labels.length; at++) positive += Number(labels[at]);
	if (positive > 0 && positive < labels.length) return;
	throw new InputError(
		`${metric} needs both classes: all ${labels.length} labels are ${positive > 0 ? "positive" : "negative"}; ` +
			"use more patients, or another split",
	);
}

/** Rejects scores that are not probabilities. */
export function checkProbabilities(scores: ArrayLike<number>, metric: string): void {
	for (let at = 0; at < scores.length; at++) {
		const score = scores[at] as number;
		if (!(score >= 0 && score <= 1))
			throw new InputError(
				`${metric}: score ${at} is ${score}; expected a probability from 0 to 1`,
			);
	}
}
