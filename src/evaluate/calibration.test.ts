import { describe, expect, test } from "vitest";
import { calibrationCurve, expectedCalibrationError, probabilityBins } from "./calibration.js";

const options = { draws: 200, seed: 0 };

/** Two patients; the second was promised more than came. */
function filled() {
	const bins = probabilityBins(2, [0.1, 0.5]);
	for (const came of [true, false, false, false]) bins.add(0, 0.25, came);
	for (const came of [true, false]) bins.add(1, 0.75, came);
	bins.add(1, 0.05, false);
	return bins;
}

describe("probabilityBins", () => {
	test("compare predicted with observed frequencies, without empty bins", () => {
		expect(filled().bins(options)).toEqual([
			{ predicted: 0.05, observed: 0, low: 0, high: 0, count: 1 },
			{ predicted: 0.25, observed: 0.25, low: 0.25, high: 0.25, count: 4 },
			{ predicted: 0.75, observed: 0.5, low: 0.5, high: 0.5, count: 2 },
		]);
		expect(probabilityBins(2, [0.5]).bins(options)).toEqual([]);
	});

	test("weight the error by predictions or by their probability", () => {
		const all = [1, 1];
		expect(filled().error("predictions")(all)).toBeCloseTo((0.05 + 0 + 2 * 0.25) / 7, 12);
		expect(filled().error("probability")(all)).toBeCloseTo(
			(0.05 * 0.05 + 1.5 * 0.25) / (0.05 + 1 + 1.5),
			12,
		);
	});

	test("weighted by predictions, the error is the expected calibration error of the library", () => {
		const random = (at: number) => ((at * 7919) % 997) / 997;
		const probabilities = Array.from({ length: 200 }, (_, at) => random(at));
		const labels = probabilities.map((own, at) => Number(random(at + 31) < own));
		const bins = probabilityBins(200, [0.2, 0.4, 0.6, 0.8]);
		for (const [at, own] of probabilities.entries()) bins.add(at, own, labels[at] === 1);
		const error = bins.error("predictions")(new Float64Array(200).fill(1));
		expect(error).toBeCloseTo(
			expectedCalibrationError(calibrationCurve(labels, probabilities, { bins: 5 })),
			12,
		);
		expect(error).not.toBeCloseTo(bins.error("probability")(new Float64Array(200).fill(1)), 3);
	});

	test("compute the error of a subset of patients from that subset alone", () => {
		expect(filled().error("predictions")([3, 0])).toBe(0);
		expect(filled().error("predictions")([0, 1])).toBeCloseTo((0.05 + 2 * 0.25) / 3, 12);
	});
});
