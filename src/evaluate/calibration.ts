import type { Communicator } from "../base/communicator.js";
import { InputError } from "../base/errors.js";
import { type BootstrapOptions, bootstrap, ratioOf, type Statistic } from "./bootstrap.js";
import type { CalibrationBin } from "./evaluation.js";
import { type BinaryLabels, checkLabels, checkProbabilities, quantile } from "./metrics.js";

interface CurvePoint {
	/** The mean probability and the observed fraction. */
	readonly predicted: number;
	readonly observed: number;
	readonly count: number;
}

/** Bins of equal width, or with equal numbers of predictions. */
type Binning = "uniform" | "quantile";

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
	const shares = evenShares(bins);
	const edges = binning === "uniform" ? shares : quantileEdges(probabilities, shares);
	return groupsBetween(edges, probabilities)
		.filter(({ length }) => length > 0)
		.map((members) => {
			const mean = (of: (index: number) => number) =>
				members.reduce((sum, index) => sum + of(index), 0) / members.length;
			return {
				predicted: mean((index) => probabilities[index]),
				observed: mean((index) => Number(labels[index])),
				count: members.length,
			};
		});
}

/** Mean distance between predicted probability and observed fraction, weighted by the predictions per bin. */
export function expectedCalibrationError(curve: readonly CurvePoint[]): number {
	const total = curve.reduce((sum, { count }) => sum + count, 0);
	return curve.reduce(
		(sum, { predicted, observed, count }) => sum + (count / total) * Math.abs(predicted - observed),
		0,
	);
}

/** The shares below the edges between so many equal parts. */
export const evenShares = (parts: number): number[] =>
	Array.from({ length: parts - 1 }, (_, i) => (i + 1) / parts);

/** The distinct quantiles of values at these shares: edges between groups. */
export function quantileEdges(values: ArrayLike<number>, shares: readonly number[]): number[] {
	const sorted = Float64Array.from(values).sort();
	return sorted.length > 0 ? [...new Set(shares.map((share) => quantile(sorted, share)))] : [];
}

/** The indices of the values between the edges, from low to high; a value on an edge belongs to the group below it. */
export function groupsBetween(edges: readonly number[], values: ArrayLike<number>): number[][] {
	const groups = Array.from({ length: edges.length + 1 }, (): number[] => []);
	for (let i = 0; i < values.length; i++) groups[binOf(edges, values[i])].push(i);
	return groups;
}

function binOf(edges: readonly number[], value: number): number {
	let bin = 0;
	while (bin < edges.length && value > edges[bin]) bin++;
	return bin;
}

/** Numbers per bin and patient: predictions, sum of their probabilities, observed events. */
const kept = 3;

/** Predicted probabilities of each patient in bins, with the observed frequencies. Patients are numbered from 0. */
export function probabilityBins(patients: number, innerEdges: readonly number[]) {
	const size = innerEdges.length + 1;
	const sums = new Float64Array(patients * size * kept);
	const column = (bin: number, part: number) =>
		Float64Array.from({ length: patients }, (_, p) => sums[(p * size + bin) * kept + part]);
	const total = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
	return {
		/** Adds a prediction, which counts `weight` times. */
		add: (patient: number, probability: number, observed: boolean, weight = 1) => {
			const first = (patient * size + binOf(innerEdges, probability)) * kept;
			sums[first] += weight;
			sums[first + 1] += weight * probability;
			if (observed) sums[first + 2] += weight;
		},
		/** Adds what other processes have added to theirs. */
		sumOver: (job: Communicator) => job.sum(sums),
		/** The non-empty bins; intervals from a bootstrap over patients. */
		bins: (options: BootstrapOptions): CalibrationBin[] => {
			const filled = Array.from({ length: size }, (_, bin) => ({
				counts: column(bin, 0),
				probabilities: column(bin, 1),
				observed: column(bin, 2),
			})).filter(({ counts }) => total(counts) > 0);
			const measured = bootstrap(
				patients,
				Object.fromEntries(filled.map(({ observed, counts }, i) => [i, ratioOf(observed, counts)])),
				options,
			);
			return filled.map(({ counts, probabilities }, i) => {
				const { value: observed, low, high } = measured[i];
				const count = total(counts);
				const predicted = total(probabilities) / count;
				return { predicted, observed, low, high, count: Math.round(count) };
			});
		},
		/** Mean distance of probability and frequency over bins, weighted by their predictions or their probability. */
		error:
			(weigh: "predictions" | "probability"): Statistic =>
			(weights) => {
				const weighted = new Float64Array(size * kept);
				for (let patient = 0; patient < patients; patient++) {
					const weight = weights[patient];
					if (weight === 0) continue;
					for (let i = 0; i < weighted.length; i++)
						weighted[i] += weight * sums[patient * weighted.length + i];
				}
				let [error, all] = [0, 0];
				for (let bin = 0; bin < size; bin++) {
					const [count, probability, observed] = weighted.subarray(bin * kept, (bin + 1) * kept);
					if (!count) continue;
					const share = weigh === "predictions" ? count : probability;
					error += share * Math.abs((probability - observed) / count);
					all += share;
				}
				return error / all;
			},
	};
}
