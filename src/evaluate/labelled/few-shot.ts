import { random } from "../../base/random.js";
import { fitLogistic, logisticScores } from "../../model/train/index.js";

/** The indices of the labels of one draw. */
export type Shots = readonly number[];

/**
 * Draws of `shots` labels, balanced between positives and negatives with an odd label positive: unbalanced, five
 * labels would rarely contain a positive. No draws if there are too few labels.
 */
export function drawShots(
	targets: ArrayLike<number>,
	shots: number,
	draws: number,
	seed: number,
): Shots[] {
	const all = Array.from({ length: targets.length }, (_, at) => at);
	const positives = all.filter((at) => targets[at]);
	const negatives = all.filter((at) => !targets[at]);
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
 * Scores of a classifier trained on few labels. The prior of the weights is a Gaussian around the prototype, a
 * vector of length 1, with variance 1 / width each, so that labels are expected to add a vector of the same
 * length. Without labels the score is the similarity to the prototype.
 */
export function fewShotScores(
	prototype: Float64Array,
	taught: { readonly directions: Float64Array; readonly targets: ArrayLike<number> },
	directions: Float64Array,
): Float64Array {
	const width = prototype.length;
	const fit = fitLogistic(taught.directions, taught.targets, width, {
		precision: width,
		centre: prototype,
	});
	return logisticScores(directions, fit);
}
