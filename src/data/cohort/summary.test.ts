import { expect, test } from "vitest";
import type { RecordSource } from "../records/store.js";
import { summarize } from "./summary.js";
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
