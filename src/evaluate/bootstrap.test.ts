import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import * as statistics from "./bootstrap.js";
import { quantile, ranking } from "./metrics.js";

const options = { draws: 1000, seed: 3 };
const meanOf = (values: Float64Array): statistics.Statistic =>
	statistics.ratioOf(values, new Float64Array(values.length).fill(1));
const normals = (count: number, seed: number, about = 0) => {
	const stream = random(seed);
	return Float64Array.from({ length: count }, () => about + stream.normal());
};

describe("bootstrap", () => {
	test("of a mean gives its value and about ±1.96 standard errors", () => {
		const values = normals(400, 1, 5);
		const { mean } = statistics.bootstrap(400, { mean: meanOf(values) }, options);
		const value = values.reduce((a, b) => a + b) / 400;
		const error = Math.sqrt(values.reduce((sum, v) => sum + (v - value) ** 2, 0)) / 400;
		expect(mean.value).toBeCloseTo(value, 12);
		expect((mean.value - mean.low) / error).toBeCloseTo(1.96, 0);
		expect((mean.high - mean.value) / error).toBeCloseTo(1.96, 0);
	});

	test("covers the true value in about 95 % of cases", () => {
		let covered = 0;
		for (let trial = 0; trial < 200; trial++) {
			const { mean } = statistics.bootstrap(
				60,
				{ mean: meanOf(normals(60, trial)) },
				{ draws: 200, seed: trial },
			);
			if (mean.low <= 0 && 0 <= mean.high) covered++;
		}
		expect(covered).toBeGreaterThan(180);
		expect(covered).toBeLessThan(199);
	});

	test("covers the average precision of samples of this size in about 95 % of cases", () => {
		const [patients, codes] = [200, 12];
		/** The mean over codes, as for onsets: 5 % positive, ranked with some skill. */
		const sample = (seed: number): statistics.Statistic => {
			const { normal, uniform } = random(seed);
			const all = Array.from({ length: codes }, () => {
				const scores = Array.from({ length: patients }, () => normal());
				const labels = scores.map((z) => Number(uniform() < 1 / (1 + Math.exp(3.5 - z))));
				return ranking(labels, scores);
			});
			return (weights) => all.reduce((sum, own) => sum + own.averagePrecision(weights) / codes, 0);
		};
		const once = new Float64Array(patients).fill(1);
		const trials = 80;
		let truth = 0;
		for (let seed = 0; seed < 400; seed++) truth += sample(10_000 + seed)(once) / 400;
		let [covered, coveredByPercentiles] = [0, 0];
		for (let seed = 0; seed < trials; seed++) {
			const [{ area }] = statistics.drawPatients(patients, [{ area: sample(seed) }], {
				draws: 60,
				seed,
			});
			const { low, high } = statistics.measureOf(area);
			if (low <= truth && truth <= high) covered++;
			const sorted = area.drawn.toSorted();
			if (quantile(sorted, 0.025) <= truth && truth <= quantile(sorted, 0.975))
				coveredByPercentiles++;
		}
		expect(covered / trials).toBeGreaterThan(0.9);
		expect(coveredByPercentiles / trials).toBeLessThan(0.85);
	});

	test("of a ratio divides sums, and does not average ratios", () => {
		const { nats } = statistics.bootstrap(2, { nats: statistics.ratioOf([1, 8], [1, 2]) }, options);
		// The draws are 1, 3 and 4 with a mean of 2.75, which is moved to 3.
		expect(nats.value).toBe(3);
		expect(nats.low).toBeCloseTo(1.25, 1);
		expect(nats.high).toBeCloseTo(4.25, 1);
	});

	test("of a paired difference is narrower than of its parts", () => {
		const base = normals(100, 7);
		const better = base.map((value) => value + 0.1);
		const means = { one: meanOf(better), other: meanOf(base) };
		const [{ one, other }] = statistics.drawPatients(100, [means], options);
		const [both, alone] = [
			statistics.measureOf(statistics.difference(one, other)),
			statistics.measureOf(one),
		];
		expect(both.value).toBeCloseTo(0.1, 12);
		expect(both.high - both.low).toBeLessThan(1e-12);
		expect(alone.high - alone.low).toBeGreaterThan(0.2);
	});

	test("leaves out draws without a value", () => {
		const { averagePrecision } = ranking([1, 0, 0], [0.9, 0.2, 0.1]);
		const { area } = statistics.bootstrap(3, { area: averagePrecision }, options);
		expect(area).toEqual({ value: 1, low: 1, high: 1 });
	});

	test("depends on the seed alone", () => {
		const means = { mean: meanOf(normals(50, 1)) };
		const first = statistics.bootstrap(50, means, options);
		expect(statistics.bootstrap(50, means, options)).toEqual(first);
		expect(statistics.bootstrap(50, means, { ...options, seed: 4 }).mean.low).not.toBe(
			first.mean.low,
		);
	});
});

test("an interval holds possible values only", () => {
	const measure = { value: 0.99, low: -0.02, high: 1.004 };
	expect(statistics.possible("auroc", measure)).toEqual({ value: 0.99, low: 0, high: 1 });
	expect(statistics.possible("recall@10 new", measure).high).toBe(1);
	expect(statistics.possible("nats", measure)).toEqual({ value: 0.99, low: 0, high: 1.004 });
});

test("the mean over seeds varies with the patients and with the seed that a draw takes", () => {
	const drawnAbout = (value: number, seed: number) => ({
		value,
		drawn: normals(4000, seed).map((by) => value + 0.02 * by),
	});
	const { value, low, high } = statistics.measureOf(
		statistics.meanOverSeeds(
			[drawnAbout(0.5, 1), drawnAbout(0.56, 2), drawnAbout(0.53, 3)],
			"model",
		),
	);
	expect(value).toBeCloseTo(0.53, 9);
	// Variances add: 0.02² of patients, and 0.0245² of the three seeds.
	expect((high - low) / 2).toBeCloseTo(1.96 * Math.hypot(0.02, 0.0245), 2);
	const alone = statistics.meanOverSeeds([drawnAbout(0.5, 1)], "model");
	expect(alone).toEqual(drawnAbout(0.5, 1));
});
