import type { Trained } from "../../model/train/index.js";
import { outputVectors, type ViewedHistory } from "../../predict/index.js";

/** Mean and standard deviation of each component. */
export interface Standard {
	readonly mean: Float64Array;
	readonly deviation: Float64Array;
}

export function standardOf(vectors: ArrayLike<number>, width: number): Standard {
	const count = vectors.length / width;
	const mean = new Float64Array(width);
	const deviation = new Float64Array(width);
	for (let i = 0; i < vectors.length; i++) mean[i % width] += vectors[i] / count;
	for (let i = 0; i < vectors.length; i++)
		deviation[i % width] += (vectors[i] - mean[i % width]) ** 2 / count;
	return { mean, deviation: deviation.map((square) => Math.sqrt(square) || 1) };
}

/** Centres and scales each component. */
export function standardised(
	vectors: ArrayLike<number>,
	{ mean, deviation }: Standard,
): Float64Array {
	const width = mean.length;
	return Float64Array.from(
		vectors,
		(value, index) => (value - mean[index % width]) / deviation[index % width],
	);
}

/** Scales each vector to length √width. */
export function directionsOf(vectors: Float64Array, width: number): Float64Array {
	const directions = vectors.slice();
	for (let first = 0; first < vectors.length; first += width) {
		const direction = directions.subarray(first, first + width);
		const length = Math.hypot(...direction) || 1;
		for (let j = 0; j < width; j++) direction[j] *= Math.sqrt(width) / length;
	}
	return directions;
}

/** The sum of vectors, each scaled to length 1. */
function sumOfUnits(parts: readonly Float64Array[], width: number): Float64Array {
	const sum = new Float64Array(width);
	for (const part of parts) {
		const length = Math.hypot(...part) || 1;
		for (let j = 0; j < width; j++) sum[j] += part[j] / length;
	}
	return sum;
}

/**
 * The unit direction, in standardised representations, of patients for whom codes are expected. A code's logit
 * is h · p for the hidden state h and the code's output vector p; with h = mean + deviation z it grows along
 * deviation · p. A softmax depends on differences of output vectors only, so their mean is subtracted. Codes of
 * a group have equal weights, and so have groups.
 */
export function expectedDirection(
	trained: Trained,
	groups: readonly (readonly number[])[],
	{ deviation }: Standard,
): Float64Array {
	const { first, dim, vectors } = outputVectors(trained);
	const { mean } = standardOf(vectors, dim);
	const codeVector = (token: number) => mean.map((m, j) => vectors[(token - first) * dim + j] - m);
	const prototype = sumOfUnits(
		groups.map((tokens) => sumOfUnits(tokens.map(codeVector), dim)),
		dim,
	);
	return sumOfUnits([prototype.map((value, j) => value * deviation[j])], dim);
}

/**
 * The unit direction of patients who have had codes: the mean change of the representation when such a code is
 * inserted halfway into a history.
 */
export async function pastDirection(
	groups: readonly (readonly number[])[],
	{ deviation }: Standard,
	patients: readonly ViewedHistory[],
	represent: (histories: readonly ViewedHistory[]) => Promise<Float32Array>,
): Promise<Float64Array> {
	const width = deviation.length;
	const before = await represent(patients);
	const changes: Float64Array[] = [];
	for (const tokens of groups) {
		const shifts: Float64Array[] = [];
		for (const token of tokens) {
			const after = await represent(patients.map((patient) => withHalfway(patient, token)));
			const shift = new Float64Array(width);
			for (let i = 0; i < after.length; i++)
				shift[i % width] += (after[i] - before[i]) / deviation[i % width];
			shifts.push(shift);
		}
		changes.push(sumOfUnits(shifts, width));
	}
	return sumOfUnits([sumOfUnits(changes, width)], width);
}

/** Inserts an event halfway, at the time of the event after it. */
function withHalfway(patient: ViewedHistory, token: number): ViewedHistory {
	const position = Math.ceil(patient.tokens.length / 2);
	const time = patient.times[position] ?? patient.at ?? patient.times[position - 1] ?? 0;
	return {
		...patient,
		tokens: Array.from(patient.tokens).toSpliced(position, 0, token),
		times: Array.from(patient.times).toSpliced(position, 0, time),
	};
}
