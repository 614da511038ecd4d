import { tmpdir } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openStore, type RecordSource } from "../records/store.js";
import { roundUpAge, roundUpCount, roundUpDays } from "./privacy-rounding.js";
import {
	distributionOf,
	durationHistogram,
	gapHistogram,
	recordHistogram,
	roundedSql,
	summarize,
} from "./summary.js";
import { idsIn, prepared } from "./testing/prepared.js";
import { drug, sourceOf } from "./testing/source-of.js";

const [one, two] = idsIn("train", 2) as [string, string];
const [three] = idsIn("test", 1) as [string];

/** Diabetes on day 100 and 400, insulin for one of the two; letters at days given. */
function source(): RecordSource {
	const diabetes = { code: "250", system: "PheCode", kind: "diagnosis" } as const;
	const rows = [100, 400].map((time) => ({ ...diabetes, time }));
	return sourceOf(
		{ [one]: "aab", [two]: "a", [three]: "bb" },
		{
			[one]: {
				birth: -365.25 * 40,
				sex: "female",
				times: [0, 0, 7],
				rows: [...rows, drug("A10AB01", 130)],
			},
			[two]: { times: [0] },
			[three]: { sex: "male", death: 500, times: [0, 30], rows },
		},
	);
}

test("a summary agrees with the dataset", async () => {
	const { dataset } = await prepared(source());
	const { splits, all, histograms, codes, categories, labels } = await summarize(dataset);
	expect(all).toMatchObject({ patients: 3, events: 10, withBirth: 1, female: 1, male: 1 });
	// Days 0 to 400, 0 and 0 to 400.
	expect(all).toMatchObject({ deaths: 1, periods: 3, totalObservedDays: 803 });
	expect(all.observedDays).toMatchObject({ min: 1, median: 401, max: 730.5 });
	expect(splits.train).toMatchObject({ patients: 2, events: 6, withBirth: 1, female: 1, male: 0 });
	expect(splits.valid).toMatchObject({ patients: 0, records: null, gapDays: null });
	expect(all.records).toMatchObject({ min: 1, median: 4, max: 5 });
	expect(all.spanDays).toMatchObject({ min: 0, median: 400, max: 730.5 });
	// 0 7 93 300 and 30 70 300
	expect(all.gapDays).toMatchObject({ min: 0, median: 70, max: 300 });
	expect(all.gapDays?.mean).toBeCloseTo(800 / 7, 6);
	expect(histograms.gap).toMatchObject({
		zero: 1,
		whole: true,
		edges: [4, 8, 16, 32, 64, 128, 256, 512],
		counts: [1, 0, 1, 0, 2, 0, 2],
	});
	expect(histograms.records).toMatchObject({
		edges: [1, 2, 3, 4, 5, 6],
		counts: [1, 0, 0, 1, 1],
	});
	expect(histograms.span).toMatchObject({ unit: "days", above: 0 });
	expect(histograms.age?.unit).toBe("years");
	expect(histograms.age?.counts.reduce((sum, count) => sum + count, 0)).toBe(5);
	expect(codes.map(({ code, events, patients }) => [code, events, patients]).sort()).toEqual([
		["250", 4, 2],
		["a", 3, 2],
		["b", 3, 2],
	]);
	expect(codes[0]).toEqual({
		code: "250",
		system: "PheCode",
		name: "phecode 250",
		kind: "diagnosis",
		category: "some",
		events: 4,
		patients: 2,
	});
	expect(categories).toContainEqual({ category: "first", codes: 1, events: 3, patients: 2 });
	expect(categories).toContainEqual({ category: null, codes: 1, events: 3, patients: 2 });
	expect(labels).toMatchObject([
		{
			task: "insulin",
			labels: 2,
			positive: 1,
			patients: 2,
			splits: {
				train: { labels: 1, positive: 1 },
				valid: { labels: 0, positive: 0 },
				test: { labels: 1, positive: 0 },
			},
		},
	]);
});

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

test("rounds durations up to years, months or powers of two", () => {
	expect([0, 0.3, 1, 5, 16, 30, 35, 150].map(roundUpDays)).toEqual([0, 0.5, 1, 8, 16, 30, 60, 150]);
	expect([364, 365.25, 366, 10_000].map(roundUpDays)).toEqual([365.25, 365.25, 730.5, 10_227]);
});

test("shows ages above 90 years as 90", () => {
	const year = 365.25;
	expect([40.2, 90, 90.1, 104.7].map((age) => roundUpAge(age * year) / year)).toEqual([
		41, 90, 90, 90,
	]);
});

test("rounds numbers of records to two significant digits", () => {
	expect([3, 10, 11, 37, 99, 100, 101, 4567].map(roundUpCount)).toEqual([
		3, 10, 15, 40, 100, 100, 110, 4600,
	]);
});

test("returns an upper bound, and rounding twice changes nothing", () => {
	fc.assert(
		fc.property(fc.double({ min: 0, max: 1e5, noNaN: true }), (days) => {
			expect(roundUpDays(days)).toBeGreaterThanOrEqual(days - 1e-4);
			expect(roundUpDays(roundUpDays(days))).toBe(roundUpDays(days));
		}),
	);
	fc.assert(
		fc.property(fc.nat(1e6), (count) => {
			expect(roundUpCount(count)).toBeGreaterThanOrEqual(count);
			expect(roundUpCount(roundUpCount(count))).toBe(roundUpCount(count));
		}),
	);
});
