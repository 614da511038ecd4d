import { InputError } from "../base/errors.js";
import type { BinaryLabels } from "./binary-answers.js";
import { checkAnswers, checkProbabilities } from "./binary-answers.js";
import { quantile } from "./quantile.js";

/** Answers whose probabilities lie close together. */
export interface CurvePoint {
	/** The mean probability, and the part that came. */
	readonly predicted: number;
	readonly observed: number;
	readonly count: number;
}

/** Where bins begin and end: evenly from 0 to 1, or so that each holds as many answers. */
export type Binning = "uniform" | "quantile";

/** Mean probability beside the part that came, bin by bin; empty bins are left out. */
export function calibrationCurve(
	labels: BinaryLabels,
	probabilities: ArrayLike<number>,
	{ bins = 10, binning = "uniform" }: { bins?: number; binning?: Binning } = {},
): CurvePoint[] {
	checkAnswers(labels, probabilities, "calibration");
	checkProbabilities(probabilities, "calibration");
	if (!Number.isInteger(bins) || bins < 1)
		throw new InputError(`calibration: ${bins} bins; expected a whole number of at least 1`);
	const edges = innerEdges(probabilities, bins, binning);
	const sums = Array.from({ length: bins }, () => ({ count: 0, predicted: 0, observed: 0 }));
	for (let at = 0; at < labels.length; at++) {
		const bin = sums[binOf(edges, probabilities[at] as number)] as (typeof sums)[0];
		bin.count++;
		bin.predicted += probabilities[at] as number;
		bin.observed += Number(labels[at]);
	}
	return sums
		.filter(({ count }) => count > 0)
		.map(({ count, predicted, observed }) => ({
			predicted: predicted / count,
			observed: observed / count,
			count,
		}));
}

/** How far a probability lies from what came, on average over the answers of the bins. */
export function expectedCalibrationError(curve: readonly CurvePoint[]): number {
	const total = curve.reduce((sum, { count }) => sum + count, 0);
	return curve.reduce(
		(sum, { predicted, observed, count }) => sum + (count / total) * Math.abs(predicted - observed),
		0,
	);
}

/** The edges between bins. */
function innerEdges(probabilities: ArrayLike<number>, bins: number, binning: Binning): number[] {
	const shares = Array.from({ length: bins - 1 }, (_, i) => (i + 1) / bins);
	if (binning === "uniform") return shares;
	const sorted = Float64Array.from(probabilities).sort();
	return shares.map((share) => quantile(sorted, share));
}

/** A probability on an edge belongs to the bin that ends there. */
export function binOf(innerEdges: readonly number[], probability: number): number {
	let bin = 0;
	while (bin < innerEdges.length && probability > (innerEdges[bin] as number)) bin++;
	return bin;
}
