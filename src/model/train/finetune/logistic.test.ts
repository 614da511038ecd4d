import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { fitLogistic, logisticLoss, logisticScores } from "../regressions.js";

const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

describe("fitLogistic", () => {
	test("without answers gives the prior's centre", () => {
		const fit = fitLogistic([], [], 3, { precision: 2, centre: [1, -2, 3] });
		expect(fit).toEqual({ weights: Float64Array.of(1, -2, 3), bias: 0 });
	});

	test("ends where the gradient is zero", () => {
		const draw = random(4);
		const [rows, width, precision] = [60, 5, 0.7];
		const features = Float64Array.from({ length: rows * width }, () => draw.normal());
		const answers = Float64Array.from({ length: rows }, () => Number(draw.uniform() < 0.4));
		const centre = [0.5, 0, -1, 0, 2];
		const fit = fitLogistic(features, answers, width, { precision, centre });
		const residuals = logisticScores(features, fit).map((z, i) => sigmoid(z) - answers[i]);
		expect(residuals.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 5);
		for (let j = 0; j < width; j++) {
			const data = residuals.reduce((sum, r, i) => sum + r * features[i * width + j], 0);
			expect(data + precision * (fit.weights[j]! - centre[j])).toBeCloseTo(0, 5);
		}
	});

	test("finds the log-odds of a table", () => {
		// Of those with x = 0, 1 of 4 is yes; with x = 1, 3 of 4.
		const fit = fitLogistic([0, 0, 0, 0, 1, 1, 1, 1], [1, 0, 0, 0, 1, 1, 1, 0], 1, {
			precision: 1e-9,
		});
		expect(fit.bias).toBeCloseTo(-Math.log(3), 4);
		expect(fit.weights[0]).toBeCloseTo(2 * Math.log(3), 4);
	});
});

test("logisticLoss is the mean −log p, also far out", () => {
	expect(logisticLoss([0, Math.log(3)], [1, 0])).toBeCloseTo((Math.log(2) + Math.log(4)) / 2, 12);
	expect(logisticLoss([1000, -1000], [1, 0])).toBe(0);
	expect(logisticLoss([-800], [1])).toBe(800);
});
