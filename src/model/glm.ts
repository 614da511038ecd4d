import { probabilityOf } from "../base/log-odds.js";

/** A matrix by row; zeros may be left out. Threads share its arrays. */
export interface SparseRows {
	/** Where each row starts and ends in `columns` and `values`. */
	readonly starts: Int32Array;
	readonly ends: Int32Array;
	readonly columns: Int32Array;
	readonly values: Float32Array | Float64Array;
}

/** The nonzero values of a matrix by column, in the order of rows. Threads share its arrays. */
export interface SparseColumns {
	/** Where each column starts in `rows` and `values`, and the number of all values. */
	readonly starts: Int32Array; // [columns + 1]
	readonly rows: Int32Array;
	readonly values: Float32Array | Float64Array;
}

const sharedIntegers = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length));

const sharedNumbers = (length: number, single: boolean) =>
	single
		? new Float32Array(new SharedArrayBuffer(4 * length))
		: new Float64Array(new SharedArrayBuffer(8 * length));

/** The columns of a matrix below `width`. */
export function columnsOf(
	{ starts, ends, columns, values }: SparseRows,
	width: number,
): SparseColumns {
	const firsts = sharedIntegers(width + 1);
	const isEntry = (i: number) => values[i] !== 0 && columns[i] < width;
	for (let row = 0; row < starts.length; row++)
		for (let i = starts[row]; i < ends[row]; i++) if (isEntry(i)) firsts[columns[i] + 1]++;
	for (let column = 0; column < width; column++) firsts[column + 1] += firsts[column];
	const next = firsts.slice();
	const byColumn = {
		starts: firsts,
		rows: sharedIntegers(firsts[width]),
		values: sharedNumbers(firsts[width], values instanceof Float32Array),
	};
	for (let row = 0; row < starts.length; row++)
		for (let i = starts[row]; i < ends[row]; i++) {
			if (!isEntry(i)) continue;
			const index = next[columns[i]]++;
			byColumn.rows[index] = row;
			byColumn.values[index] = values[i];
		}
	return byColumn;
}

/** Rows without their zeros, on request in single precision. */
export function sparseRows(rows: Iterable<ArrayLike<number>>, single = false): SparseRows {
	const ends: number[] = [];
	const columns: number[] = [];
	const values: number[] = [];
	for (const row of rows) {
		for (let column = 0; column < row.length; column++) {
			if (row[column] === 0) continue;
			columns.push(column);
			values.push(row[column]);
		}
		ends.push(columns.length);
	}
	const integers = (numbers: readonly number[]) => {
		const shared = sharedIntegers(numbers.length);
		shared.set(numbers);
		return shared;
	};
	const shared = sharedNumbers(values.length, single);
	shared.set(values);
	return {
		starts: integers([0, ...ends.slice(0, -1)].slice(0, ends.length)),
		ends: integers(ends),
		columns: integers(columns),
		values: shared,
	};
}

/** All numbers of a matrix, [rows, width], after these a further column, if there is one, and then a column of ones. */
export function denseRows(
	vectors: ArrayLike<number>,
	width: number,
	further?: ArrayLike<number>,
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

/** What is counted in each row: events, in so much exposure (trials, or time at risk). Rows without exposure do not count. */
export interface Outcomes {
	readonly events: Float64Array;
	readonly exposure: Float64Array;
}

/** Labels, 0 or 1, with weights: trials of which all or none succeed. */
export const weightedLabels = (
	labels: ArrayLike<number>,
	weights?: ArrayLike<number>,
): Outcomes => {
	const exposure = Float64Array.from(labels, (_, row) => weights?.[row] ?? 1);
	return { exposure, events: exposure.map((weight, row) => weight * labels[row]) };
};

/**
 * How events depend on the linear predictor η of a row, with the canonical link: −log likelihood =
 * exposure · potential(η) − events · η, whose derivatives are exposure · mean − events and exposure · variance.
 */
export interface Family {
	readonly potential: (eta: number) => number;
	readonly mean: (eta: number) => number;
	readonly variance: (mean: number) => number;
}

/** A probability 1 / (1 + e^−η). */
export const logistic: Family = {
	potential: (eta) => Math.max(eta, 0) + Math.log1p(Math.exp(-Math.abs(eta))),
	mean: probabilityOf,
	variance: (mean) => mean * (1 - mean),
};

const highestLogRate = 20;
const rateOf = (eta: number) => Math.exp(Math.min(eta, highestLogRate));

/** A rate e^η. */
export const poisson: Family = { potential: rateOf, mean: rateOf, variance: (mean) => mean };

/** ½ Σ precision · (coefficient − centre)², by column. A precision may be 0 if some row has the column. */
export interface Penalty {
	readonly precisions: Float64Array;
	readonly centres: Float64Array;
}

const maxSteps = 100;
const shortestStep = 1e-6;
/** Of sums: near the minimum a loss no longer falls. */
const rounding = 1e-12;
/** Newton's equation is solved until this share of the gradient is left. */
const unsolvedShare = 0.1;

/** η of each row: the log-odds of a probability, the logarithm of a rate. */
export function linearPredictor(
	{ starts, ends, columns, values }: SparseRows,
	coefficients: ArrayLike<number>,
): Float64Array {
	const eta = new Float64Array(starts.length);
	for (let row = 0; row < eta.length; row++) {
		let sum = 0;
		for (let i = starts[row]; i < ends[row]; i++) sum += values[i] * coefficients[columns[i]];
		eta[row] = sum;
	}
	return eta;
}

/** Σ −log likelihood of the rows. */
export function lossOf(
	{ potential }: Family,
	{ events, exposure }: Outcomes,
	eta: Float64Array,
): number {
	let loss = 0;
	for (let row = 0; row < eta.length; row++)
		if (exposure[row] !== 0) loss += exposure[row] * potential(eta[row]) - events[row] * eta[row];
	return loss;
}

/**
 * The coefficients of a generalised linear model that minimise its loss plus the penalty.
 *
 * Newton's method. Its equation (XᵀDX + Λ) d = −g is solved by conjugate gradients with the diagonal as
 * preconditioner, so the Hessian is never formed. Steps are halved until the loss does not rise.
 */
export function fitGlm(
	family: Family,
	rows: SparseRows,
	outcomes: Outcomes,
	penalty: Penalty,
	/** A fit has converged if gᵀM⁻¹g is below this, with M the diagonal of the Hessian: squared standard errors. */
	tolerance = 1e-8,
): Float64Array {
	const penaltyOf = (values: Float64Array) =>
		values.reduce(
			(sum, value, j) => sum + 0.5 * penalty.precisions[j] * (value - penalty.centres[j]) ** 2,
			0,
		);
	let [coefficients, further] = [penalty.centres, penalty.centres];
	let eta = linearPredictor(rows, coefficients);
	let moved = eta;
	let loss = lossOf(family, outcomes, eta) + penaltyOf(coefficients);
	for (let n = 0; n < maxSteps; n++) {
		const slopes = slopesAt(family, rows, outcomes, penalty, coefficients, eta);
		if (slopes.remaining < tolerance) break;
		const direction = newtonDirection(rows, penalty, slopes);
		const change = linearPredictor(rows, direction);
		const highest = loss + rounding * Math.abs(loss);
		let step = 2;
		do {
			step /= 2;
			if (step < shortestStep) return coefficients;
			further = coefficients.map((coefficient, j) => coefficient + step * direction[j]);
			moved = eta.map((z, row) => z + step * change[row]);
			loss = lossOf(family, outcomes, moved) + penaltyOf(further);
		} while (!(loss <= highest));
		[coefficients, eta] = [further, moved];
	}
	return coefficients;
}

/** First and second derivatives of the penalised loss: its gradient, the diagonal of its Hessian, and gᵀM⁻¹g. */
function slopesAt(
	{ mean, variance }: Family,
	{ starts, ends, columns, values }: SparseRows,
	{ events, exposure }: Outcomes,
	{ precisions, centres }: Penalty,
	coefficients: Float64Array,
	eta: Float64Array,
) {
	const gradient = coefficients.map((coefficient, j) => precisions[j] * (coefficient - centres[j]));
	const diagonal = precisions.slice();
	const curvature = new Float64Array(eta.length);
	for (let row = 0; row < eta.length; row++) {
		if (exposure[row] === 0) continue;
		const expected = mean(eta[row]);
		const residual = exposure[row] * expected - events[row];
		const bend = exposure[row] * variance(expected);
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
function newtonDirection(
	rows: SparseRows,
	{ precisions }: Penalty,
	{ gradient, diagonal, curvature, remaining }: ReturnType<typeof slopesAt>,
): Float64Array {
	const width = gradient.length;
	const direction = new Float64Array(width);
	const residual = gradient.map((slope) => -slope);
	const vector = residual.map((value, j) => value / diagonal[j]);
	let left = remaining;
	for (let n = 0; n < width && left > unsolvedShare ** 2 * remaining; n++) {
		const sums = hessianProduct(rows, curvature, vector);
		for (let j = 0; j < width; j++) sums[j] += precisions[j] * vector[j];
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

/** XᵀDX · vector, where D is the curvature of each row. */
function hessianProduct(
	{ starts, ends, columns, values }: SparseRows,
	curvature: Float64Array,
	vector: Float64Array,
): Float64Array {
	const product = new Float64Array(vector.length);
	for (let row = 0; row < starts.length; row++) {
		if (curvature[row] === 0) continue;
		let change = 0;
		for (let i = starts[row]; i < ends[row]; i++) change += values[i] * vector[columns[i]];
		change *= curvature[row];
		for (let i = starts[row]; i < ends[row]; i++) product[columns[i]] += values[i] * change;
	}
	return product;
}

/** `fitGlm` until hardly anything is left to gain. */
export const fitted = (
	family: Family,
	rows: SparseRows,
	outcomes: Outcomes,
	penalty: Penalty,
): Float64Array => fitGlm(family, rows, outcomes, penalty, 1e-20);

/**
 * The most probable coefficients of a logistic regression on rows that end with a column of ones, under a Gaussian
 * prior of this precision around `centre`. The coefficient of the last column, the bias, is free.
 */
export function fitLogistic(
	rows: SparseRows,
	outcomes: Outcomes,
	{ precision, centre }: { readonly precision: number; readonly centre: ArrayLike<number> },
): Float64Array {
	const centres = Float64Array.from([...Array.from(centre), 0]);
	if (outcomes.events.length === 0) return centres;
	const precisions = new Float64Array(centres.length).fill(precision, 0, centre.length);
	return fitted(logistic, rows, outcomes, { precisions, centres });
}
