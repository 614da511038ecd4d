import { type BootstrapOptions, bootstrap, ratioOf, type Statistic } from "./bootstrap.js";
import { binOf } from "./calibration.js";
import type { CalibrationBin } from "./evaluation.js";

/** What is kept of a bin and patient: answers, Σ of their probabilities, how many came. */
const kept = 3;

/** Probabilities of each patient in bins, beside how often they came. */
export interface ProbabilityBins {
	/** `patient` counts from 0 among those measured. */
	add(patient: number, probability: number, came: boolean): void;
	/** Bins that hold something; intervals from a bootstrap over patients. */
	bins(options: BootstrapOptions): CalibrationBin[];
	/** Distance of probability and frequency, averaged over bins by their answers or their probability. */
	error(weigh: "answers" | "probability"): Statistic;
}

export function probabilityBins(patients: number, innerEdges: readonly number[]): ProbabilityBins {
	const size = innerEdges.length + 1;
	const sums = new Float64Array(patients * size * kept);
	const column = (bin: number, part: number) =>
		Float64Array.from({ length: patients }, (_, p) => sums[(p * size + bin) * kept + part]!);
	const total = (values: Float64Array) => values.reduce((a, b) => a + b, 0);
	return {
		add: (patient, probability, came) => {
			const at = (patient * size + binOf(innerEdges, probability)) * kept;
			sums[at]! += 1;
			sums[at + 1]! += probability;
			if (came) sums[at + 2]! += 1;
		},
		bins: (options) => {
			const filled = Array.from({ length: size }, (_, bin) => ({
				counts: column(bin, 0),
				probabilities: column(bin, 1),
				came: column(bin, 2),
			})).filter(({ counts }) => total(counts) > 0);
			const measured = bootstrap(
				patients,
				Object.fromEntries(filled.map(({ came, counts }, i) => [i, ratioOf(came, counts)])),
				options,
			);
			return filled.map(({ counts, probabilities }, i) => {
				const { value: observed, low, high } = measured[i]!;
				const count = total(counts);
				return { predicted: total(probabilities) / count, observed, low, high, count };
			});
		},
		error: (weigh) => (weights) => {
			const weighted = new Float64Array(size * kept);
			for (let patient = 0; patient < patients; patient++) {
				const weight = weights[patient]!;
				if (weight === 0) continue;
				for (let at = 0; at < weighted.length; at++)
					weighted[at]! += weight * sums[patient * weighted.length + at]!;
			}
			let [error, all] = [0, 0];
			for (let bin = 0; bin < size; bin++) {
				const [count, probability, came] = weighted.subarray(bin * kept, (bin + 1) * kept);
				if (!count) continue;
				const share = weigh === "answers" ? count : probability!;
				error += share * Math.abs((probability! - came!) / count);
				all += share;
			}
			return error / all;
		},
	};
}
