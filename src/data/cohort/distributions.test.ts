import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countValues, durationHistogram, gapHistogram, recordHistogram } from "./distributions.js";

function of(values: Iterable<number>) {
	const counted = countValues();
	for (const value of values) counted.add(value);
	return counted;
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

describe("countValues", () => {
	test("gives the exact spread of whole numbers", () => {
		expect(of([5, 1, 1, 2, 11]).spread()).toEqual({
			min: 1,
			quarter: 1,
			median: 2,
			threeQuarters: 5,
			max: 11,
			mean: 4,
		});
		expect(of([]).spread()).toBeNull();
	});

	test("treats a day with a rounding error as that day", () => {
		expect(of([29.999999999, 30, 1e-9, 0]).entries()).toEqual([
			[0, 2],
			[30, 2],
		]);
	});

	test("keeps other numbers to one part in a thousand, in few entries", () => {
		const values = Array.from({ length: 20_000 }, (_, i) => 0.3 + Math.sqrt(i) / 7);
		const counted = of(values);
		expect(counted.entries().length).toBeLessThan(10_000);
		expect(counted.quantile(1) / (values.at(-1) as number)).toBeCloseTo(1, 3);
		expect(counted.quantile(0) / 0.3).toBeCloseTo(1, 3);
	});

	test("merges the counts of parts into those of the whole", () => {
		// Beyond 1,024 the array of whole numbers grows; from 2^17 on and between whole numbers, a map counts.
		const values = fc.array(
			fc.oneof(
				...[fc.nat(50), fc.nat(5000), fc.integer({ min: 2 ** 17, max: 200_000 })],
				fc.double({ min: 0, max: 1000, noNaN: true }),
			),
		);
		fc.assert(
			fc.property(values, values, (a, b) => {
				expect(countValues([of(a), of(b)]).entries()).toEqual(of([...a, ...b]).entries());
			}),
		);
	});
});

describe("histograms", () => {
	test("contain each value once", () => {
		const values = fc.array(fc.double({ min: 0, max: 40_000, noNaN: true }), { minLength: 1 });
		fc.assert(
			fc.property(values, (days) => {
				for (const made of [durationHistogram(of(days)), gapHistogram(of(days))]) {
					expect(made).not.toBeNull();
					if (!made) return;
					expect(made.edges.length).toBe(made.counts.length + 1);
					expect(made.counts.length).toBeLessThanOrEqual(32);
					expect(sum(made.counts) + made.zero + made.above).toBe(days.length);
					expect(made.above).toBeLessThanOrEqual(Math.ceil(days.length / 100));
				}
			}),
		);
	});

	test("have round edges", () => {
		expect(recordHistogram(of([2, 2, 3, 7]))).toMatchObject({
			edges: [2, 3, 4, 5, 6, 7, 8],
			counts: [2, 1, 0, 0, 0, 1],
		});
		const spans = durationHistogram(of([0, 365.25, 3653]));
		expect(spans?.unit).toBe("years");
		expect(spans?.edges.slice(0, 4)).toEqual([0, 0.5, 1, 1.5]);
		expect(spans?.edges.at(-1)).toBe(10.5);
		expect(spans?.counts[2]).toBe(1);
		expect(durationHistogram(of([0, 12, 30]))).toMatchObject({ unit: "days" });
	});

	test("of gaps have bins that double, and count zeros separately", () => {
		expect(gapHistogram(of([0, 0, 1, 2, 3, 4, 365]))).toEqual({
			unit: "days",
			scale: "log",
			whole: true,
			edges: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
			counts: [1, 2, 1, 0, 0, 0, 0, 0, 1],
			zero: 2,
			above: 0,
			max: 365,
		});
		expect(gapHistogram(of([0.5, 1e-4]))?.edges[0]).toBe(2 ** -10);
		expect(gapHistogram(of([0, 0]))).toMatchObject({ counts: [0], zero: 2 });
		expect(gapHistogram(of([]))).toBeNull();
	});

	test("leave out a thin tail and count it", () => {
		const values = [...Array.from({ length: 300 }, (_, i) => 1 + (i % 10)), 5000];
		expect(recordHistogram(of(values))).toMatchObject({
			edges: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
			above: 1,
			max: 5000,
		});
	});
});
