import { InputError } from "../base/errors.js";
import type { BinaryLabels } from "./check-labels.js";
import { checkLabels, checkProbabilities } from "./check-labels.js";
import { quantile } from "./quantile.js";

/** A bin of predictions with similar probabilities. */
export interface CurvePoint {
	/** The mean probability and the observed fraction. */
	readonly predicted: number;
	readonly observed: number;
	readonly count: number;
}

/** Bins of equal width, or with equal numbers of predictions. */
export type Binning = "uniform" | "quantile";

/** Mean probability and observed fraction per bin; empty bins are left out. */
export function calibrationCurve(
	labels: BinaryLabels,
	probabilities: ArrayLike<number>,
	{ bins = 10, binning = "uniform" }: { bins?: number; binning?: Binning } = {},
): CurvePoint[] {
	checkLabels(labels, probabilities, "calibration");
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

/** Mean distance between predicted probability and observed fraction, weighted by the predictions per bin. */
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

/** A probability on an edge belongs to the bin below it. */
export function binOf(innerEdges: readonly number[], probability: number): number {
	let bin = 0;
	while (bin < innerEdges.length && probability > (innerEdges[bin] as number)) bin++;
	return bin;
}
