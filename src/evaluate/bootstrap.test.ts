import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { bootstrap, difference, ratioOf } from "./bootstrap.js";
import { ranking } from "./ranking.js";
import { meanOf } from "./testing/mean-of.js";

const options = { draws: 1000, seed: 3 };
const normals = (count: number, seed: number, about = 0) => {
	const stream = random(seed);
	return Float64Array.from({ length: count }, () => about + stream.normal());
};

describe("bootstrap", () => {
	test("of a mean gives its value and about ±1.96 standard errors", () => {
		const values = normals(400, 1, 5);
		const { mean } = bootstrap(400, { mean: meanOf(values) }, options);
		const value = values.reduce((a, b) => a + b) / 400;
		const error = Math.sqrt(values.reduce((sum, v) => sum + (v - value) ** 2, 0)) / 400;
		expect(mean.value).toBeCloseTo(value, 12);
		expect((mean.value - mean.low) / error).toBeCloseTo(1.96, 0);
		expect((mean.high - mean.value) / error).toBeCloseTo(1.96, 0);
	});

	test("covers the true value in about 95 % of cases", () => {
		let covered = 0;
		for (let trial = 0; trial < 200; trial++) {
			const { mean } = bootstrap(
				60,
				{ mean: meanOf(normals(60, trial)) },
				{ draws: 200, seed: trial },
			);
			if (mean.low <= 0 && 0 <= mean.high) covered++;
		}
		expect(covered).toBeGreaterThan(180);
		expect(covered).toBeLessThan(199);
	});

	test("of a ratio divides sums, and does not average ratios", () => {
		const { nats } = bootstrap(2, { nats: ratioOf([1, 8], [1, 2]) }, options);
		expect(nats).toEqual({ value: 3, low: 1, high: 4 });
	});

	test("of a paired difference is narrower than of its parts", () => {
		const base = normals(100, 7);
		const better = base.map((value) => value + 0.1);
		const [one, other] = [meanOf(better), meanOf(base)];
		const { both, alone } = bootstrap(100, { both: difference(one, other), alone: one }, options);
		expect(both.value).toBeCloseTo(0.1, 12);
		expect(both.high - both.low).toBeLessThan(1e-12);
		expect(alone.high - alone.low).toBeGreaterThan(0.2);
	});

	test("leaves out draws without a value", () => {
		const { averagePrecision } = ranking([1, 0, 0], [0.9, 0.2, 0.1]);
		const { area } = bootstrap(3, { area: averagePrecision }, options);
		expect(area).toEqual({ value: 1, low: 1, high: 1 });
	});

	test("depends on the seed alone", () => {
		const statistics = { mean: meanOf(normals(50, 1)) };
		const first = bootstrap(50, statistics, options);
		expect(bootstrap(50, statistics, options)).toEqual(first);
		expect(bootstrap(50, statistics, { ...options, seed: 4 }).mean.low).not.toBe(first.mean.low);
	});

	test("rejects zero patients", () => {
		expect(() => bootstrap(0, {}, options)).toThrow("there are no patients");
	});
});
