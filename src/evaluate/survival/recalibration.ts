import { probabilityOf } from "../../base/log-odds.js";
import type { Measure } from "../evaluation.js";
import { normalQuantile } from "../metrics.js";
import { outcomeAt } from "./at-horizon.js";
import { type SortedFollowUp, sortPredictions } from "./follow-up.js";
import { boundedRisk } from "./scores.js";

/** Newton's method converges in a few steps, unless risks separate cases from others. */
const mostSteps = 50;
const tolerance = 1e-10;
/** Log-odds that no recalibration needs. */
const farthest = 50;

interface Entry {
	readonly label: number;
	readonly weight: number;
	readonly logOdds: number;
}

/**
 * Logistic recalibration of predicted risks at a horizon, logit P(onset) = intercept + slope · logit(risk), by maximum
 * likelihood with the censoring weights of `outcomeAt`:
 *
 * - slope, with the intercept free: 1 is right; below 1, risks are too extreme; above 1, not extreme enough;
 * - intercept, with a slope of 1: 0 is right; above 0, risks are too low.
 *
 * 95 % limits from the robust variance A⁻¹BA⁻¹, with censoring weights taken as known. Null where it is undefined: all
 * or none have an onset, all risks are equal (slope), or risks separate those with an onset from the others (slope).
 */
export function recalibration(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
): { readonly slope: Measure | null; readonly intercept: Measure | null } {
	const risks = sortPredictions(followUp, predicted);
	const { labels, weigh } = outcomeAt(followUp, horizon);
	const { weights = new Float64Array() } = weigh() ?? {};
	const entries = Array.from(weights, (weight, i): Entry => {
		const risk = boundedRisk(risks[i]);
		return { label: labels[i], weight, logOdds: Math.log(risk / (1 - risk)) };
	}).filter(({ weight }) => weight > 0);
	const cases = entries.filter(({ label }) => label === 1).length;
	if (cases === 0 || cases === entries.length) return { slope: null, intercept: null };
	const first = (entries[0] as Entry).logOdds;
	const differ = entries.some(({ logOdds }) => logOdds !== first);
	const intercept = interceptOf(entries);
	return { slope: differ ? slopeOf(entries, intercept?.value ?? 0) : null, intercept };
}

/** Sums over entries of the gradient, the Hessian A and the squared gradients B, of (intercept, slope). */
function sumsAt(entries: readonly Entry[], intercept: number, slope: number) {
	const gradient = [0, 0] as [number, number];
	const hessian = { ii: 0, is: 0, ss: 0 };
	const squares = { ii: 0, is: 0, ss: 0 };
	for (const { label, weight, logOdds } of entries) {
		const probability = probabilityOf(intercept + slope * logOdds);
		const residual = weight * (label - probability);
		const variance = weight * probability * (1 - probability);
		gradient[0] += residual;
		gradient[1] += residual * logOdds;
		hessian.ii += variance;
		hessian.is += variance * logOdds;
		hessian.ss += variance * logOdds ** 2;
		squares.ii += residual ** 2;
		squares.is += residual ** 2 * logOdds;
		squares.ss += (residual * logOdds) ** 2;
	}
	return { gradient, hessian, squares };
}

function slopeOf(entries: readonly Entry[], start: number): Measure | null {
	let [intercept, slope] = [start, 1];
	for (let step = 0; step < mostSteps; step++) {
		const { gradient, hessian, squares } = sumsAt(entries, intercept, slope);
		const determinant = hessian.ii * hessian.ss - hessian.is ** 2;
		const change = {
			intercept: (hessian.ss * gradient[0] - hessian.is * gradient[1]) / determinant,
			slope: (hessian.ii * gradient[1] - hessian.is * gradient[0]) / determinant,
		};
		intercept += change.intercept;
		slope += change.slope;
		if (!(Math.abs(slope) < farthest && Math.abs(intercept) < farthest)) return null;
		if (Math.max(Math.abs(change.intercept), Math.abs(change.slope)) > tolerance) continue;
		// The row of A⁻¹ that belongs to the slope.
		const [ofIntercept, ofSlope] = [-hessian.is / determinant, hessian.ii / determinant];
		const variance =
			ofIntercept ** 2 * squares.ii +
			2 * ofIntercept * ofSlope * squares.is +
			ofSlope ** 2 * squares.ss;
		return measureOf(slope, variance);
	}
	return null;
}

function interceptOf(entries: readonly Entry[]): Measure | null {
	let intercept = 0;
	for (let step = 0; step < mostSteps; step++) {
		const { gradient, hessian, squares } = sumsAt(entries, intercept, 1);
		const change = gradient[0] / hessian.ii;
		intercept += Math.max(-1, Math.min(1, change));
		if (Math.abs(change) < tolerance) return measureOf(intercept, squares.ii / hessian.ii ** 2);
	}
	return null;
}

function measureOf(value: number, variance: number): Measure {
	const half = normalQuantile * Math.sqrt(variance);
	return { value, low: value - half, high: value + half };
}
