import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../base/errors.js";
import { calibrationCurve, expectedCalibrationError, probabilityBins } from "./calibration.js";
import * as metrics from "./metrics.js";

interface Golden {
	readonly labels: readonly number[];
	readonly scores: readonly number[];
	readonly averagePrecision: number;
	readonly auroc: number;
	readonly brier: number;
	readonly logLoss: number;
	readonly calibration: {
		readonly bins: number;
		readonly observed: readonly number[];
		readonly predicted: readonly number[];
	} | null;
}

const { cases } = JSON.parse(
	readFileSync(new URL("fixtures/metrics.json", import.meta.url), "utf8"),
) as { cases: readonly Golden[] };

const within = (actual: number, expected: number) =>
	expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-12);

const closeTo = (value: number) => (Number.isNaN(value) ? value : expect.closeTo(value, 12));

describe("agrees with scikit-learn", () => {
	test.each(cases.map((golden) => [golden.labels.length, golden] as const))(
		"of %d answers",
		(_, { labels, scores, ...golden }) => {
			within(metrics.averagePrecision(labels, scores), golden.averagePrecision);
			within(metrics.auroc(labels, scores), golden.auroc);
			within(metrics.brier(labels, scores), golden.brier);
			within(metrics.logLoss(labels, scores), golden.logLoss);
			if (golden.calibration === null) return;
			const { bins, observed, predicted } = golden.calibration;
			const curve = calibrationCurve(labels, scores, { bins, binning: "quantile" });
			expect(curve).toHaveLength(bins);
			for (const [i, point] of curve.entries()) {
				within(point.observed, observed[i] as number);
				within(point.predicted, predicted[i] as number);
			}
		},
	);

	test("clips probabilities of 0 and 1", () => {
		expect(metrics.logLoss([1, 0, 1, 0], [0, 1, 1, 0])).toBeCloseTo((15 * Math.LN10) / 2, 3);
		expect(metrics.brier([1, 0, 1, 0], [0, 1, 1, 0])).toBe(0.5);
	});
});

describe("ranking", () => {
	const answers = fc
		.array(fc.record({ label: fc.boolean(), score: fc.integer({ min: 0, max: 4 }) }), {
			minLength: 2,
			maxLength: 12,
		})
		.filter((all) => all.some(({ label }) => label) && all.some(({ label }) => !label));

	test("AUROC is the fraction of ordered pairs, with ties counted half", () => {
		fc.assert(
			fc.property(answers, (all) => {
				const pairs = all
					.filter(({ label }) => label)
					.flatMap(({ score }) =>
						all.filter(({ label }) => !label).map((other) => Math.sign(score - other.score)),
					);
				const expected =
					pairs.reduce<number>((sum, sign) => sum + (1 + sign) / 2, 0) / pairs.length;
				const labels = all.map(({ label }) => label);
				within(
					metrics.auroc(
						labels,
						all.map(({ score }) => score),
					),
					expected,
				);
			}),
		);
	});

	test("a weight counts a label that many times", () => {
		fc.assert(
			fc.property(
				answers,
				fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 12 }),
				(all, w) => {
					const labels = all.map(({ label }) => label);
					const scores = all.map(({ score }) => score);
					const repeated = all.flatMap((one, i) =>
						Array.from({ length: w[i] as number }, () => one),
					);
					const again = metrics.ranking(
						repeated.map(({ label }) => label),
						repeated.map(({ score }) => score),
					);
					const once = metrics.ranking(labels, scores);
					expect(once.auroc(w)).toEqual(closeTo(again.auroc()));
					expect(once.averagePrecision(w)).toEqual(closeTo(again.averagePrecision()));
				},
			),
		);
	});
});

describe("calibration", () => {
	test("puts a probability on an edge into the bin below it", () => {
		const curve = calibrationCurve([0, 1, 1, 0, 1], [0, 0.2, 0.3, 0.9, 1], { bins: 5 });
		expect(curve).toEqual([
			{ predicted: 0.1, observed: 0.5, count: 2 },
			{ predicted: 0.3, observed: 1, count: 1 },
			{ predicted: 0.95, observed: 0.5, count: 2 },
		]);
		within(expectedCalibrationError(curve), (2 * 0.4 + 0.7 + 2 * 0.45) / 5);
	});
});

describe("rejects, with the reason", () => {
	test.each([
		["one class", () => metrics.averagePrecision([1, 1], [0.1, 0.2]), "all 2 labels are positive"],
		[
			"the other class",
			() => metrics.auroc([false, false], [0.1, 0.2]),
			"all 2 labels are negative",
		],
		["none", () => metrics.auroc([], []), "there are no labels"],
		["too few scores", () => metrics.brier([1, 0], [0.5]), "2 labels and 1 scores"],
		["no number", () => metrics.auroc([1, 0], [0.5, Number.NaN]), "score 1 is not a number"],
		["no probability", () => metrics.logLoss([1, 0], [0.5, 1.5]), "score 1 is 1.5"],
		["no bins", () => calibrationCurve([1, 0], [0, 1], { bins: 0 }), "0 bins"],
	])("%s", (_, measure, reason) => {
		expect(measure).toThrow(InputError);
		expect(measure).toThrow(reason);
	});
});

const values = fc.array(fc.oneof(fc.integer({ min: -2, max: 2 }), fc.double({ noNaN: true })));

test("sorts indices by value, and leaves equal values in their order", () => {
	fc.assert(
		fc.property(values, (all) => {
			const slow = all.map((_, at) => at).sort((a, b) => Math.sign(all[a]! - all[b]! || 0));
			expect([...metrics.ascendingOrder(all)]).toEqual(slow);
			const sorted = all.toSorted((a, b) => Math.sign(a - b || 0));
			expect([...metrics.pick(all, metrics.ascendingOrder(all))].map((value) => value + 0)).toEqual(
				sorted.map((value) => value + 0),
			);
		}),
	);
});

test("leaves equal values in the order that is given", () => {
	expect([...metrics.ascendingOrder([5, 1, 5, 1], Int32Array.of(3, 2, 1, 0))]).toEqual([
		3, 1, 2, 0,
	]);
});

test("counts values up to a limit", () => {
	fc.assert(
		fc.property(values, fc.integer({ min: -3, max: 3 }), (all, limit) => {
			const sorted = all.toSorted((a, b) => a - b);
			expect(metrics.countUpTo(sorted, limit)).toBe(all.filter((value) => value <= limit).length);
		}),
	);
});

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
