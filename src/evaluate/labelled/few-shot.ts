import { random } from "../../base/random.js";
import { fitLogistic, logisticScores } from "../../train/index.js";

/** Some labels for one draw: numbers of them. */
export type Shots = readonly number[];

/**
 * Draws of `shots` labels, in each about as many positives as negatives, the odd one a positive: with
 * the classes as they come, five would seldom hold a positive. None where there are too few.
 */
export function drawShots(
	answers: ArrayLike<number>,
	shots: number,
	draws: number,
	seed: number,
): Shots[] {
	const all = Array.from({ length: answers.length }, (_, at) => at);
	const positives = all.filter((at) => answers[at]);
	const negatives = all.filter((at) => !answers[at]);
	const wanted = Math.ceil(shots / 2);
	if (positives.length < wanted || negatives.length < shots - wanted) return [];
	const stream = random(seed).fork("shots");
	return Array.from({ length: draws }, (_, draw) => {
		const own = stream.fork(draw);
		return [
			...own.shuffle(positives).slice(0, wanted),
			...own.shuffle(negatives).slice(0, shots - wanted),
		];
	});
}

/**
 * Scores by what few labels teach. Weights are drawn from a Gaussian about the prototype, a vector of
 * length 1, with variance 1 / width each: what the labels add is expected to be as long as that. With no
 * label the score is the likeness to the prototype.
 */
export function fewShotScores(
	prototype: Float64Array,
	taught: { readonly directions: Float64Array; readonly answers: ArrayLike<number> },
	directions: Float64Array,
): Float64Array {
	const width = prototype.length;
	const fit = fitLogistic(taught.directions, taught.answers, width, {
		precision: width,
		centre: prototype,
	});
	return logisticScores(directions, fit);
}
