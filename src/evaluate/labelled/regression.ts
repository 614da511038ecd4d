import { evenlySpread } from "../../base/arrays.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import * as glm from "../../model/glm.js";
import type { LinearHead } from "../../model/heads.js";
import type { LabelQuery, Trained } from "../../model/train/index.js";
import { outputVectors, representations, type ViewedHistory } from "../../predict/index.js";
import { viewsOf } from "./label-set.js";

interface Examples {
	/** [examples, width] */
	readonly vectors: ArrayLike<number>;
	readonly targets: ArrayLike<number>;
	/** How often each counts; 1 if left out. */
	readonly weights?: ArrayLike<number>;
	/** Log-odds that are known beforehand. */
	readonly offsets?: ArrayLike<number> | undefined;
}

const precisions = [1, 10, 100, 1000];
/** With offsets, also almost nothing but them. */
const precisionsAroundOffsets = [...precisions, 1e4, 1e5];

/**
 * Logistic regression on standardised vectors, with the penalty chosen on the validation labels. With offsets, these
 * are one more column, the last, and the penalty is towards taking them as they are.
 */
export function regression(train: Examples, valid: Examples) {
	const width = train.vectors.length / train.targets.length;
	const standard = standardOf(train.vectors, width);
	const rowsOf = ({ vectors, offsets }: Examples) =>
		glm.denseRows(standardised(vectors, standard), width, offsets);
	const [known, checked] = [rowsOf(train), rowsOf(valid)];
	const taught = glm.weightedLabels(train.targets, train.weights);
	const judged = glm.weightedLabels(valid.targets, valid.weights);
	const centre = new Float64Array(train.offsets ? width + 1 : width).fill(1, width);
	const fits = (train.offsets ? precisionsAroundOffsets : precisions).map((precision) => {
		const fit = glm.fitLogistic(known, taught, { precision, centre });
		return {
			fit,
			precision,
			standard,
			loss: glm.lossOf(glm.logistic, judged, glm.linearPredictor(checked, fit)),
		};
	});
	return fits.reduce((best, other) => (other.loss < best.loss ? other : best));
}

/** The most labels that the head is fitted to, which bounds the time that the regression takes. */
export const mostProbed = 20_000;

/**
 * At most so many labels. Both values are thinned evenly, the rarer one only if it has more than half, and the rest
 * weighs for all.
 */
export function atMost(labels: readonly LabelQuery[], most: number): readonly LabelQuery[] {
	if (labels.length <= most) return labels;
	const groups = [true, false].map((value) => labels.filter((label) => label.value === value));
	const fewest = Math.min(...groups.map(({ length }) => length));
	const ofRarer = Math.min(fewest, Math.floor(most / 2));
	return groups.flatMap((group) => {
		const kept = evenlySpread(group, group.length === fewest ? ofRarer : most - ofRarer);
		const stands = group.length / kept.length;
		return kept.map((label) => ({ ...label, weight: (label.weight ?? 1) * stands }));
	});
}

/**
 * A head on the frozen model: logistic regression on representations and, if the labels have them, on their
 * offsets. It sees the same part of a history as fine-tuning, which starts from this head: with a head of zeros the first
 * steps would fit the model to a useless head.
 */
export async function probe(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: Readonly<Record<"train" | "valid", readonly LabelQuery[]>>,
	maxLength: number,
): Promise<LinearHead> {
	const train = atMost(labels.train, mostProbed);
	const views = await viewsOf(dataset, [...train, ...labels.valid]);
	const vectors = await representations(runtime, trained, views, maxLength);
	const taught = (vectors.length / views.length) * train.length;
	const examples = (labels: readonly LabelQuery[], ofThem: Float32Array) => ({
		vectors: ofThem,
		targets: labels.map(({ value }) => Number(value)),
		weights: labels.map(({ weight = 1 }) => weight),
		offsets: labels[0]?.offset === undefined ? undefined : labels.map(({ offset = 0 }) => offset),
	});
	const { fit, standard } = regression(
		examples(train, vectors.subarray(0, taught)),
		examples(labels.valid, vectors.subarray(taught)),
	);
	// w · (x − mean) / deviation + b, rewritten as weights of x
	const width = standard.mean.length;
	const weights = fit.subarray(0, width);
	const weight = Float32Array.from(weights, (w, j) => w / standard.deviation[j]);
	const bias = weights.reduce(
		(sum, w, j) => sum - (w * standard.mean[j]) / standard.deviation[j],
		fit.at(-1) as number,
	);
	return { weight, bias, offset: fit.length > width + 1 ? fit[width] : undefined };
}

type Standard = ReturnType<typeof standardOf>;

export function standardOf(vectors: ArrayLike<number>, width: number) {
	const count = vectors.length / width;
	const mean = new Float64Array(width);
	const deviation = new Float64Array(width);
	for (let i = 0; i < vectors.length; i++) mean[i % width] += vectors[i] / count;
	for (let i = 0; i < vectors.length; i++)
		deviation[i % width] += (vectors[i] - mean[i % width]) ** 2 / count;
	return { mean, deviation: deviation.map((square) => Math.sqrt(square) || 1) };
}

export function standardised(vectors: ArrayLike<number>, { mean, deviation }: Standard) {
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
