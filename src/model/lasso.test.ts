import { expect, test } from "vitest";
import { random } from "../base/random.js";
import * as glm from "./glm.js";
import { fitLasso, type LassoPenalty } from "./lasso.js";

const truth = [-2, 0.9, -0.7, 0, 0, 0, 0, 0, 0, 0];
const width = truth.length;

/** A column of ones and columns that are mostly 0; counts by known coefficients; some rows without exposure. */
function generated(count: number) {
	const draw = random(4);
	const dense = Array.from({ length: count }, () =>
		truth.map((_, j) => (j === 0 ? 1 : draw.uniform() < 0.3 ? Math.log1p(1 + draw.integer(4)) : 0)),
	);
	const exposure = Float64Array.from(dense, () => draw.integer(3) / 2);
	const events = Float64Array.from(dense, (row, i) => {
		const eta = row.reduce((sum, value, j) => sum + value * truth[j]!, 0);
		return Number(draw.uniform() < exposure[i]! * Math.exp(eta));
	});
	const rows = glm.sparseRows(dense);
	return {
		dense,
		matrix: { rows, columns: glm.columnsOf(rows, width) },
		outcomes: { events, exposure },
	};
}

const { dense, matrix, outcomes } = generated(400);

/** Until hardly anything is left to gain. */
const fitted = (penalty: LassoPenalty, start = new Float64Array(width)) =>
	fitLasso(glm.poisson, matrix, outcomes, penalty, start, 1e-12);

const penaltyOf = (threshold: number, precision = 0.5): LassoPenalty => ({
	thresholds: Float64Array.from(truth, (_, j) => (j === 0 ? 0 : threshold)),
	precisions: new Float64Array(width).fill(precision),
});

const slopesAt = (coefficients: Float64Array) =>
	truth.map((_, j) =>
		dense.reduce((sum, row, i) => {
			const eta = row.reduce((all, value, k) => all + value * coefficients[k]!, 0);
			return sum + (outcomes.events[i]! - outcomes.exposure[i]! * Math.exp(eta)) * row[j]!;
		}, 0),
	);

/** Proximal gradient descent in short steps. */
function slowly({ thresholds, precisions }: LassoPenalty): Float64Array {
	const step = 1e-3;
	let coefficients = new Float64Array(width);
	for (let n = 0; n < 3000; n++) {
		const slopes = slopesAt(coefficients);
		coefficients = coefficients.map((coefficient, j) => {
			const moved = coefficient + step * (slopes[j]! - precisions[j]! * coefficient);
			return Math.sign(moved) * Math.max(0, Math.abs(moved) - step * thresholds[j]!);
		});
	}
	return coefficients;
}

test("equals proximal gradient descent", () => {
	const penalty = penaltyOf(6);
	const slow = slowly(penalty);
	const fast = fitted(penalty);
	expect(slow.filter((coefficient) => coefficient === 0).length).toBeGreaterThan(3);
	for (const [j, coefficient] of slow.entries()) {
		expect(fast[j]).toBeCloseTo(coefficient, 4);
		expect(fast[j] === 0).toBe(coefficient === 0);
	}
});

test("slopes of columns without effect stay within their thresholds, and those of others reach them", () => {
	for (const threshold of [20, 6, 2]) {
		const penalty = penaltyOf(threshold);
		const fit = fitted(penalty);
		for (const [j, slope] of slopesAt(fit).entries()) {
			const limit = penalty.thresholds[j]!;
			if (fit[j] === 0) expect(Math.abs(slope)).toBeLessThanOrEqual(1.001 * limit);
			else expect(slope - 0.5 * fit[j]!).toBeCloseTo(Math.sign(fit[j]!) * limit, 4);
		}
	}
});

test("no effect exceeds a threshold that is high enough, and the bias is that of the mean", () => {
	const fit = fitted(penaltyOf(1e6, 1e-9));
	const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
	expect(fit[0]).toBeCloseTo(Math.log(total(outcomes.events) / total(outcomes.exposure)), 3);
	expect([...fit].slice(1)).toEqual(new Array(width - 1).fill(0));
});

test("where a fit starts does not matter", () => {
	const penalty = penaltyOf(4);
	const fromZero = fitted(penalty);
	// Newton's first step from here is too long.
	const fromBelow = fitted(
		penalty,
		Float64Array.from(truth, (_, j) => (j === 0 ? -8 : 0)),
	);
	for (const [j, coefficient] of fromZero.entries())
		expect(fromBelow[j]).toBeCloseTo(coefficient, 5);
	const fromAfar = fitted(penalty, new Float64Array(width).fill(0.5));
	for (const [j, coefficient] of fromZero.entries())
		expect(fromAfar[j]).toBeCloseTo(coefficient, 5);
});

test("is a ridge regression where thresholds are 0", () => {
	const penalty = penaltyOf(0, 5);
	const lasso = fitted(penalty);
	const ridge = glm.fitted(glm.poisson, matrix.rows, outcomes, {
		precisions: penalty.precisions,
		centres: new Float64Array(width),
	});
	for (const [j, coefficient] of ridge.entries()) expect(lasso[j]).toBeCloseTo(coefficient, 5);
});
