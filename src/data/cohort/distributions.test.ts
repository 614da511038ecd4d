import { tmpdir } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openStore } from "../records/store.js";
import {
	distributionOf,
	durationHistogram,
	gapHistogram,
	recordHistogram,
	roundedSql,
} from "./summary.js";

function of(values: Iterable<number>) {
	const counts = new Map<number, number>();
	for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
	return distributionOf(
		[...counts]
			.map(([value, times]) => ({ value, times, sum: value * times }))
			.sort((a, b) => a.value - b.value),
	);
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test("the spread of a distribution", () => {
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

test("values are rounded to days within a second, others to one part in a thousand", async () => {
	const store = await openStore({ folder: tmpdir(), memory: 2 ** 27, threads: 1 });
	const rounded = async (value: number) =>
		(
			await store.all<{ r: number }>(
				`SELECT ${roundedSql("v")} AS r FROM (SELECT ${value}::DOUBLE AS v)`,
			)
		)[0].r;
	expect(await rounded(29.999999999)).toBe(30);
	expect(await rounded(1e-9)).toBe(0);
	expect(await rounded(2 ** 17 - 1)).toBe(2 ** 17 - 1);
	expect(await rounded(2 ** 17 + 1)).toBe(2 ** 17);
	for (const value of [0.3, 1 / 7, 12.34567, 1234.5678]) {
		const near = await rounded(value);
		expect(near).not.toBe(value);
		expect(Math.abs(near / value - 1)).toBeLessThan(2 ** -11);
	}
	store.close();
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
