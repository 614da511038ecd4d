import { probabilityOf } from "../base/log-odds.js";

/** A matrix by row; zeros may be left out. */
export interface SparseRows {
	/** Where each row starts and ends in `columns` and `values`. */
	readonly starts: Int32Array;
	readonly ends: Int32Array;
	readonly columns: Int32Array;
	readonly values: Float32Array | Float64Array;
}

/** All numbers of a matrix, [rows, width], after these a further column, if there is one, and then a column of ones. */
export function denseRows(
	vectors: ArrayLike<number>,
	width: number,
	further: ArrayLike<number> | undefined = undefined,
): SparseRows {
	const count = vectors.length / width;
	const columns = width + (further ? 2 : 1);
	const values = new Float64Array(count * columns).fill(1);
	for (let row = 0; row < count; row++) {
		for (let j = 0; j < width; j++) values[row * columns + j] = vectors[row * width + j];
		if (further) values[row * columns + width] = further[row];
	}
	const starts = Int32Array.from({ length: count }, (_, row) => row * columns);
	return {
		starts,
		ends: starts.map((start) => start + columns),
		columns: Int32Array.from(values, (_, index) => index % columns),
		values,
	};
}

/** The label of each row, 0 or 1, and its weight; rows of weight 0 are left out. */
export interface WeightedLabels {
	readonly labels: Uint8Array;
	readonly weights: Float64Array;
}

/** Each label counts once if there are no weights. */
export const weightedLabels = (
	labels: ArrayLike<number>,
	weights: ArrayLike<number> | undefined = undefined,
): WeightedLabels => ({
	labels: Uint8Array.from(labels),
	weights: Float64Array.from(labels, (_, row) => weights?.[row] ?? 1),
});

/** ½ Σ precision · (coefficient − centre)², by column. A precision may be 0 if some row has the column. */
export interface Penalty {
	readonly precisions: Float64Array;
	readonly centres: Float64Array;
}

export interface FitOptions {
	/** Where to start; default: the centres. */
	readonly start?: Float64Array;
	/** A fit has converged if gᵀM⁻¹g is below this, with M the diagonal of the Hessian: squared standard errors. */
	readonly tolerance?: number;
}

/** A product with the Hessian that a fit waits for: XᵀDX · `vector` is to be added to `sums`. */
export interface HessianProduct {
	readonly rows: SparseRows;
	/** D: weight · p(1 − p) of each row. */
	readonly curvature: Float64Array;
	readonly vector: Float64Array;
	readonly sums: Float64Array;
}

/** A computation that stops at every product with the Hessian, so that several can share a pass over the rows. */
export type Fit<T> = Generator<HessianProduct, T, undefined>;

const mostSteps = 100;
const shortestStep = 1e-6;
/** Newton's equation is solved until this share of the gradient is left. */
const unsolvedShare = 0.1;
/** Products with the Hessian per pass. */
const lanes = 4;

/** Log-odds of each row. */
export function logOddsOf(
	{ starts, ends, columns, values }: SparseRows,
	coefficients: Float64Array,
): Float64Array {
	const logOdds = new Float64Array(starts.length);
	for (let row = 0; row < logOdds.length; row++) {
		let sum = 0;
		for (let i = starts[row]; i < ends[row]; i++) sum += values[i] * coefficients[columns[i]];
		logOdds[row] = sum;
	}
	return logOdds;
}

/** Σ weight · −log P(label), given log-odds. */
export function weightedLoss({ labels, weights }: WeightedLabels, logOdds: Float64Array): number {
	let loss = 0;
	for (let row = 0; row < labels.length; row++) {
		if (weights[row] === 0) continue;
		const z = logOdds[row];
		loss += weights[row] * (Math.max(z, 0) + Math.log1p(Math.exp(-Math.abs(z))) - labels[row] * z);
	}
	return loss;
}

/**
 * The coefficients of a logistic regression that minimise the weighted loss plus the penalty.
 *
 * Newton's method. Its equation (XᵀDX + Λ) d = −g is solved by conjugate gradients with the diagonal as
 * preconditioner, so the Hessian is never formed. Steps are halved until the loss falls.
 */
export function* fitSparseLogistic(
	rows: SparseRows,
	outcome: WeightedLabels,
	penalty: Penalty,
	{ start = penalty.centres, tolerance = 1e-8 }: FitOptions = {},
): Fit<Float64Array> {
	let coefficients = start;
	let logOdds = logOddsOf(rows, coefficients);
	let loss = weightedLoss(outcome, logOdds) + penaltyOf(penalty, coefficients);
	for (let n = 0; n < mostSteps; n++) {
		const slopes = slopesAt(rows, outcome, penalty, coefficients, logOdds);
		if (slopes.remaining < tolerance) break;
		const direction = yield* newtonDirection(rows, penalty, slopes);
		const change = logOddsOf(rows, direction);
		const before = loss;
		for (let step = 1; loss >= before && step > shortestStep; step /= 2) {
			const further = coefficients.map((coefficient, j) => coefficient + step * direction[j]);
			const moved = logOdds.map((z, row) => z + step * change[row]);
			const next = weightedLoss(outcome, moved) + penaltyOf(penalty, further);
			if (next < loss) [coefficients, logOdds, loss] = [further, moved, next];
		}
		if (loss >= before) break;
	}
	return coefficients;
}

const penaltyOf = ({ precisions, centres }: Penalty, coefficients: Float64Array): number =>
	coefficients.reduce(
		(sum, coefficient, j) => sum + 0.5 * precisions[j] * (coefficient - centres[j]) ** 2,
		0,
	);

/** First and second derivatives of the penalised loss. */
interface Slopes {
	readonly gradient: Float64Array;
	/** The diagonal of the Hessian. */
	readonly diagonal: Float64Array;
	readonly curvature: Float64Array;
	/** gᵀM⁻¹g. */
	readonly remaining: number;
}

function slopesAt(
	{ starts, ends, columns, values }: SparseRows,
	{ labels, weights }: WeightedLabels,
	{ precisions, centres }: Penalty,
	coefficients: Float64Array,
	logOdds: Float64Array,
): Slopes {
	const gradient = coefficients.map((coefficient, j) => precisions[j] * (coefficient - centres[j]));
	const diagonal = precisions.slice();
	const curvature = new Float64Array(logOdds.length);
	for (let row = 0; row < logOdds.length; row++) {
		const weight = weights[row];
		if (weight === 0) continue;
		const probability = probabilityOf(logOdds[row]);
		const residual = weight * (probability - labels[row]);
		const bend = weight * probability * (1 - probability);
		curvature[row] = bend;
		for (let i = starts[row]; i < ends[row]; i++) {
			const column = columns[i];
			const value = values[i];
			gradient[column] += residual * value;
			diagonal[column] += bend * value * value;
		}
	}
	const remaining = gradient.reduce((sum, slope, j) => sum + (slope * slope) / diagonal[j], 0);
	return { gradient, diagonal, curvature, remaining };
}

/** Conjugate gradients. */
function* newtonDirection(
	rows: SparseRows,
	{ precisions }: Penalty,
	{ gradient, diagonal, curvature, remaining }: Slopes,
): Fit<Float64Array> {
	const width = gradient.length;
	const direction = new Float64Array(width);
	const residual = gradient.map((slope) => -slope);
	const vector = residual.map((value, j) => value / diagonal[j]);
	let left = remaining;
	for (let n = 0; n < width && left > unsolvedShare ** 2 * remaining; n++) {
		const sums = precisions.map((precision, j) => precision * vector[j]);
		yield { rows, curvature, vector, sums };
		let along = 0;
		for (let j = 0; j < width; j++) along += vector[j] * sums[j];
		const step = left / along;
		let after = 0;
		for (let j = 0; j < width; j++) {
			direction[j] += step * vector[j];
			residual[j] -= step * sums[j];
			after += residual[j] ** 2 / diagonal[j];
		}
		for (let j = 0; j < width; j++)
			vector[j] = residual[j] / diagonal[j] + (after / left) * vector[j];
		left = after;
	}
	return direction;
}

/**
 * The most probable coefficients of rows that end with a column of ones, under a Gaussian prior of this precision
 * around `centre`. The coefficient of the last column, the bias, is free.
 */
export function fitLogistic(
	rows: SparseRows,
	outcome: WeightedLabels,
	{ precision, centre }: { readonly precision: number; readonly centre: ArrayLike<number> },
): Float64Array {
	const width = centre.length;
	const centres = new Float64Array(width + 1);
	centres.set(Array.from(centre));
	if (outcome.labels.length === 0) return centres;
	const precisions = new Float64Array(width + 1).fill(precision, 0, width);
	return runFits([
		fitSparseLogistic(rows, outcome, { precisions, centres }, { tolerance: 1e-14 }),
	])[0];
}

/**
 * Runs fits to their end, several at a time, and returns their results in order. A result does not depend on which
 * fits run beside it.
 */
export function runFits<T>(fits: readonly Fit<T>[], onDone?: (done: number) => void): T[] {
	const results: T[] = [];
	const running = new Map<number, HessianProduct>();
	let [started, done] = [0, 0];
	const advance = (index: number) => {
		const { done: ended, value } = fits[index].next();
		if (!ended) return running.set(index, value);
		results[index] = value;
		running.delete(index);
		done++;
		return onDone?.(done);
	};
	while (done < fits.length) {
		for (const index of [...running.keys()]) advance(index);
		while (running.size < lanes && started < fits.length) advance(started++);
		const products = [...running.values()];
		for (const rows of new Set(products.map((product) => product.rows)))
			multiply(products.filter((product) => product.rows === rows));
	}
	return results;
}

/** Computes up to `lanes` products with the same rows, in one pass over them. */
function multiply(products: readonly HessianProduct[]): void {
	const first = products[0];
	const { starts, ends, columns, values } = first.rows;
	const width = first.vector.length;
	const vectors = new Float64Array(width * lanes);
	const sums = new Float64Array(width * lanes);
	for (const [lane, { vector }] of products.entries())
		for (let j = 0; j < width; j++) vectors[j * lanes + lane] = vector[j];
	// A lane that is free gets a vector of zeros.
	const [a, b, c, d] = [0, 1, 2, 3].map((lane) => (products[lane] ?? first).curvature) as [
		Float64Array,
		Float64Array,
		Float64Array,
		Float64Array,
	];
	for (let row = 0; row < starts.length; row++) {
		if (a[row] === 0 && b[row] === 0 && c[row] === 0 && d[row] === 0) continue;
		const from = starts[row];
		const to = ends[row];
		let w = 0;
		let x = 0;
		let y = 0;
		let z = 0;
		for (let i = from; i < to; i++) {
			const value = values[i];
			const j = columns[i] * lanes;
			w += value * vectors[j];
			x += value * vectors[j + 1];
			y += value * vectors[j + 2];
			z += value * vectors[j + 3];
		}
		w *= a[row];
		x *= b[row];
		y *= c[row];
		z *= d[row];
		for (let i = from; i < to; i++) {
			const value = values[i];
			const j = columns[i] * lanes;
			sums[j] += value * w;
			sums[j + 1] += value * x;
			sums[j + 2] += value * y;
			sums[j + 3] += value * z;
		}
	}
	for (const [lane, product] of products.entries())
		for (let j = 0; j < width; j++) product.sums[j] += sums[j * lanes + lane];
}
