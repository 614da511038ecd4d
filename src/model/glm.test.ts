import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import * as glm from "./glm.js";

const sigmoid = (z: number) => 1 / (1 + Math.exp(-z));

/** A bias and values that are mostly 0; labels by known coefficients; some rows of weight 0, whose labels are wrong. */
function generated(seed: number, rows: number, coefficients: readonly number[]) {
	const draw = random(seed);
	const dense = Array.from({ length: rows }, () =>
		coefficients.map((_, j) =>
			j === 0 ? 1 : draw.uniform() < 0.4 ? Math.log1p(1 + draw.integer(6)) : 0,
		),
	);
	const weights = Float64Array.from(dense, () => draw.integer(4) / 2);
	const labels = dense.map((row, i) => {
		const z = row.reduce((sum, value, j) => sum + value * coefficients[j], 0);
		return weights[i] === 0 ? 1 : Number(draw.uniform() < sigmoid(z));
	});
	return { dense, rows: glm.sparseRows(dense, true), outcome: glm.weightedLabels(labels, weights) };
}

const penaltyOf = (width: number, precision: number): glm.Penalty => ({
	precisions: Float64Array.from({ length: width }, (_, j) => (j === 0 ? 1e-4 : precision)),
	centres: Float64Array.from({ length: width }, (_, j) => (j === 0 ? -1 : 0)),
});

function gradientOf(
	dense: readonly (readonly number[])[],
	{ events, exposure }: glm.Outcomes,
	{ precisions, centres }: glm.Penalty,
	coefficients: ArrayLike<number>,
): number[] {
	return Array.from(precisions, (precision, j) =>
		dense.reduce(
			(sum, row, i) => {
				const z = row.reduce((all, value, k) => all + Math.fround(value) * coefficients[k], 0);
				return sum + (exposure[i] * sigmoid(z) - events[i]) * Math.fround(row[j]);
			},
			precision * (coefficients[j] - centres[j]),
		),
	);
}

describe("fitGlm", () => {
	test("ends where the gradient of the penalised loss is zero", () => {
		const truth = Array.from({ length: 30 }, (_, j) => (j === 0 ? -3 : ((j % 5) - 2) / 3));
		const { dense, rows, outcome } = generated(2, 600, truth);
		const penalty = penaltyOf(truth.length, 5);
		const fit = glm.fitGlm(glm.logistic, rows, outcome, penalty);
		for (const slope of gradientOf(dense, outcome, penalty, fit)) expect(slope).toBeCloseTo(0, 3);
	});

	test("equals gradient descent", () => {
		const { dense, rows, outcome } = generated(3, 40, [-1, 0.5, -0.5]);
		const penalty = penaltyOf(3, 2);
		const slow = Array.from(penalty.centres);
		for (let n = 0; n < 4000; n++)
			for (const [j, slope] of gradientOf(dense, outcome, penalty, slow).entries())
				slow[j] -= 0.02 * slope;
		const fit = glm.fitGlm(glm.logistic, rows, outcome, penalty);
		for (const [j, value] of slow.entries()) expect(fit[j]).toBeCloseTo(value, 4);
	});

	test("converges from a start that is far away", () => {
		const { rows, outcome } = generated(4, 300, [-1, 0.5, -0.5, 1]);
		const precisions = new Float64Array(4).fill(1e-6);
		const fitFrom = (...centres: number[]) =>
			glm.fitGlm(glm.logistic, rows, outcome, { precisions, centres: Float64Array.from(centres) });
		const near = fitFrom(0, 0, 0, 0);
		const far = fitFrom(8, -9, 7, 12);
		for (const [j, value] of near.entries()) expect(far[j]).toBeCloseTo(value, 3);
	});

	test("of rates ends where events are as many as expected", () => {
		const { rows, outcome } = generated(8, 300, [-1, 0.5, -0.5]);
		const days = outcome.exposure.map((exposure) => 30 * exposure);
		const penalty = { precisions: new Float64Array(3), centres: new Float64Array(3) };
		const fit = glm.fitted(glm.poisson, rows, { events: outcome.events, exposure: days }, penalty);
		const expected = glm.linearPredictor(rows, fit).map((eta, row) => days[row] * Math.exp(eta));
		const sum = (values: Float64Array) => values.reduce((all, value) => all + value, 0);
		// Every row has the bias.
		expect(sum(expected)).toBeCloseTo(sum(outcome.events), 5);
		expect(fit[1]).toBeGreaterThan(fit[2]!);
	});

	test("stays finite without any onset", () => {
		const { rows, outcome } = generated(5, 100, [-1, 0.5]);
		const none = { ...outcome, events: new Float64Array(100) };
		const fit = glm.fitGlm(glm.logistic, rows, none, penaltyOf(2, 1));
		expect(glm.linearPredictor(rows, fit).every((z) => z < -4 && z > -50)).toBe(true);
	});
});

test("lossOf leaves rows of weight 0 out, and is exact far out", () => {
	const outcome = glm.weightedLabels([1, 0, 1], [2, 1, 0]);
	expect(glm.lossOf(glm.logistic, outcome, Float64Array.of(0, -800, -5))).toBeCloseTo(
		2 * Math.log(2),
		12,
	);
	expect(glm.lossOf(glm.logistic, outcome, Float64Array.of(-800, -800, -5))).toBe(1600);
});

describe("fitLogistic", () => {
	test("without labels gives the prior's centre", () => {
		const fit = glm.fitLogistic(glm.denseRows([], 3), glm.weightedLabels([]), {
			precision: 2,
			centre: [1, -2, 3],
		});
		expect(fit).toEqual(Float64Array.of(1, -2, 3, 0));
	});

	test("finds the log-odds of a table, and those of weights", () => {
		// Of those with x = 0, 1 of 4 is yes; with x = 1, 3 of 4.
		const prior = { precision: 1e-9, centre: [0] };
		const fit = glm.fitLogistic(
			glm.denseRows([0, 0, 0, 0, 1, 1, 1, 1], 1),
			glm.weightedLabels([1, 0, 0, 0, 1, 1, 1, 0]),
			prior,
		);
		const weighted = glm.fitLogistic(
			glm.denseRows([0, 0, 1, 1], 1),
			glm.weightedLabels([1, 0, 1, 0], [1, 3, 3, 1]),
			prior,
		);
		for (const [slope, bias] of [fit, weighted]) {
			expect(bias).toBeCloseTo(-Math.log(3), 6);
			expect(slope).toBeCloseTo(2 * Math.log(3), 6);
		}
	});
});
