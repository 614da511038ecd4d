import { outputVectors } from "../../infer/index.js";
import type { Trained } from "../../train/index.js";

/** Mean and deviation of each number of some vectors. */
export interface Standard {
	readonly mean: Float64Array;
	readonly deviation: Float64Array;
}

export function standardOf(vectors: ArrayLike<number>, width: number): Standard {
	const count = vectors.length / width;
	const mean = new Float64Array(width);
	const deviation = new Float64Array(width);
	for (let at = 0; at < vectors.length; at++) mean[at % width]! += vectors[at]! / count;
	for (let at = 0; at < vectors.length; at++)
		deviation[at % width]! += (vectors[at]! - mean[at % width]!) ** 2 / count;
	return { mean, deviation: deviation.map((square) => Math.sqrt(square) || 1) };
}

/** Numbers in deviations from the mean. */
export function standardised(
	vectors: ArrayLike<number>,
	{ mean, deviation }: Standard,
): Float64Array {
	const width = mean.length;
	return Float64Array.from(
		vectors,
		(value, at) => (value - mean[at % width]!) / deviation[at % width]!,
	);
}

/** Each vector stretched or shortened to length √width: what is left of it is where it points. */
export function directionsOf(vectors: Float64Array, width: number): Float64Array {
	const directions = vectors.slice();
	for (let first = 0; first < vectors.length; first += width) {
		const own = directions.subarray(first, first + width);
		const length = Math.hypot(...own) || 1;
		for (let j = 0; j < width; j++) own[j]! *= Math.sqrt(width) / length;
	}
	return directions;
}

/**
 * Where a prototype points, as standardised vectors see it, with length 1. A code's logit is h · p for
 * the view h and the code's output vector p; with h = mean + deviation z it grows along deviation · p.
 * Only differences of output vectors count in a softmax, so their mean is taken off; codes of a group,
 * and groups, count alike.
 */
export function prototypeDirection(
	trained: Trained,
	groups: readonly (readonly number[])[],
	{ deviation }: Standard,
): Float64Array {
	const { first, dim, vectors } = outputVectors(trained);
	const { mean } = standardOf(vectors, dim);
	const sumOf = (parts: readonly Float64Array[]) => {
		const sum = new Float64Array(dim);
		for (const part of parts) {
			const length = Math.hypot(...part) || 1;
			for (let j = 0; j < dim; j++) sum[j]! += part[j]! / length;
		}
		return sum;
	};
	const codeVector = (token: number) => mean.map((m, j) => vectors[(token - first) * dim + j]! - m);
	const prototype = sumOf(groups.map((tokens) => sumOf(tokens.map(codeVector))));
	return sumOf([prototype.map((value, j) => value * deviation[j]!)]);
}
