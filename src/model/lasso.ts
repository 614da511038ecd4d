import type { Family, Outcomes, SparseColumns, SparseRows } from "./glm.js";
import { linearPredictor, lossOf } from "./glm.js";

/** The same matrix by row and by column. */
export interface LassoData {
	readonly rows: SparseRows;
	readonly columns: SparseColumns;
}

/** Σ threshold · |coefficient| + ½ Σ precision · coefficient², by column. */
export interface LassoPenalty {
	readonly thresholds: Float64Array;
	readonly precisions: Float64Array;
}

/** Passes over all columns, at most. */
const mostPasses = 30;
/** Newton's steps between two of them, at most. */
const mostSteps = 20;
/** Sweeps over the active columns per step, at most. */
const mostSweeps = 50;
/** Every fourth sweep also visits active columns whose coefficient is 0. */
const sweepsPerVisit = 4;
const shortestStep = 1e-4;
/**
 * A fit has converged if a whole step gains less nats than this, and a sweep moves each coefficient by less, in squared
 * standard errors: less than a penalty moves them.
 */
const usualTolerance = 1e-2;
/** By how much a slope must exceed its threshold for the column to become active. */
const activationMargin = 1e-3;
/** Relative rounding error of a loss. */
const rounding = 1e-9;

/** Coefficients, the η of each row that they give, and the penalised loss. */
interface Reached {
	readonly coefficients: Float64Array;
	readonly eta: Float64Array;
	readonly loss: number;
}

/**
 * The coefficients of a generalised linear model that minimise its loss plus the penalty; many of them are 0.
 *
 * Newton's method on the active columns, whose coefficients are or can become other than 0. Each of its quadratic
 * problems is solved by coordinate descent. Then columns whose slope exceeds their threshold become active, too.
 */
export function fitLasso(
	family: Family,
	{ rows, columns }: LassoData,
	outcomes: Outcomes,
	penalty: LassoPenalty,
	start: Float64Array,
	tolerance = usualTolerance,
): Float64Array {
	const lossAt = (coefficients: Float64Array, eta: Float64Array): Reached => ({
		coefficients,
		eta,
		loss: lossOf(family, outcomes, eta) + penaltyOf(penalty, coefficients),
	});
	let reached = lossAt(start, linearPredictor(rows, start));
	const isActive = start.map((coefficient) => Number(coefficient !== 0));
	for (let pass = 0; pass < mostPasses; pass++) {
		const slopes = slopesAt(family, rows, outcomes, reached.eta, start.length);
		let added = 0;
		for (const [column, slope] of slopes.entries()) {
			const limit = penalty.thresholds[column] * (1 + activationMargin);
			if (isActive[column] === 1 || Math.abs(slope) <= limit) continue;
			isActive[column] = 1;
			added++;
		}
		if (pass > 0 && added === 0) break;
		const active = [...isActive.keys()].filter((column) => isActive[column] === 1);
		for (let step = 0; step < mostSteps; step++) {
			const target = newtonTarget(family, columns, outcomes, penalty, reached, active, tolerance);
			const further = searchLine(target, reached, columns, active, lossAt);
			if (!further) break;
			const gain = reached.loss - further.loss;
			reached = further;
			if (gain < tolerance && further.step === 1) break;
		}
	}
	return reached.coefficients;
}

function penaltyOf({ thresholds, precisions }: LassoPenalty, coefficients: Float64Array): number {
	let sum = 0;
	for (let j = 0; j < coefficients.length; j++)
		if (coefficients[j] !== 0)
			sum += thresholds[j] * Math.abs(coefficients[j]) + 0.5 * precisions[j] * coefficients[j] ** 2;
	return sum;
}

/** How fast the log likelihood rises with each coefficient. */
function slopesAt(
	{ mean }: Family,
	{ starts, ends, columns, values }: SparseRows,
	{ events, exposure }: Outcomes,
	eta: Float64Array,
	width: number,
): Float64Array {
	const slopes = new Float64Array(width);
	for (let row = 0; row < eta.length; row++) {
		if (exposure[row] === 0) continue;
		const residual = events[row] - exposure[row] * mean(eta[row]);
		for (let i = starts[row]; i < ends[row]; i++) slopes[columns[i]] += residual * values[i];
	}
	return slopes;
}

/** The coefficients that minimise the penalty plus the loss's second-order approximation, by coordinate descent. */
function newtonTarget(
	{ mean, variance }: Family,
	{ starts, rows, values }: SparseColumns,
	{ events, exposure }: Outcomes,
	{ thresholds, precisions }: LassoPenalty,
	{ coefficients, eta }: Reached,
	active: readonly number[],
	tolerance: number,
): Float64Array {
	const curvature = new Float64Array(eta.length);
	/** Events less those that the approximation expects. */
	const residuals = new Float64Array(eta.length);
	for (let row = 0; row < eta.length; row++) {
		if (exposure[row] === 0) continue;
		const expected = mean(eta[row]);
		curvature[row] = exposure[row] * variance(expected);
		residuals[row] = events[row] - exposure[row] * expected;
	}
	const bends = active.map((column) => {
		let bend = 0;
		for (let i = starts[column]; i < starts[column + 1]; i++)
			bend += curvature[rows[i]] * values[i] ** 2;
		return bend;
	});
	const target = coefficients.slice();
	for (let sweep = 0; sweep < mostSweeps; sweep++) {
		const visitsAll = sweep % sweepsPerVisit === 0;
		let largest = 0;
		for (const [position, column] of active.entries()) {
			const bend = bends[position];
			if (bend === 0 || (target[column] === 0 && !visitsAll)) continue;
			const end = starts[column + 1];
			let slope = 0;
			for (let i = starts[column]; i < end; i++) slope += values[i] * residuals[rows[i]];
			const pull = bend * target[column] + slope;
			const size = Math.max(0, Math.abs(pull) - thresholds[column]);
			const moved = (Math.sign(pull) * size) / (bend + precisions[column]);
			const change = moved - target[column];
			if (change === 0) continue;
			target[column] = moved;
			for (let i = starts[column]; i < end; i++) {
				const row = rows[i];
				residuals[row] -= curvature[row] * values[i] * change;
			}
			largest = Math.max(largest, bend * change ** 2);
		}
		if (largest < tolerance && visitsAll) break;
	}
	return target;
}

/** The whole way to a target, or half of it, and so on, until the loss does not rise; undefined if it always does. */
function searchLine(
	target: Float64Array,
	{ coefficients, eta, loss }: Reached,
	{ starts, rows, values }: SparseColumns,
	active: readonly number[],
	lossAt: (coefficients: Float64Array, eta: Float64Array) => Reached,
): (Reached & { readonly step: number }) | undefined {
	const direction = target.map((coefficient, column) => coefficient - coefficients[column]);
	const change = new Float64Array(eta.length);
	for (const column of active)
		for (let i = starts[column]; i < starts[column + 1]; i++)
			change[rows[i]] += values[i] * direction[column];
	const highest = loss + rounding * Math.abs(loss);
	for (let step = 1; step >= shortestStep; step /= 2) {
		const further = lossAt(
			coefficients.map((coefficient, column) => coefficient + step * direction[column]),
			eta.map((value, row) => value + step * change[row]),
		);
		if (further.loss <= highest) return { ...further, step };
	}
	return undefined;
}
