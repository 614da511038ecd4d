import { describe, expect, test } from "vitest";
import { datasetBefore, datasetOf } from "./dataset.js";
import type { Manifest } from "./manifest.js";
import { vocabularyOf } from "./vocabulary.js";

const [a, b] = [5, 6];
const times = Float64Array.of(10, 20.9, 21, 30, 40);
const tokens = Int32Array.of(a, b, a, b, a);
const dataset = datasetOf({
	folder: "memory",
	manifest: { source: { axis: "dates" } } as Manifest,
	vocabulary: vocabularyOf([]),
	patients: {
		id: ["early", "late"],
		birth: [0, null],
		sex: [null, null],
		death: [20, 60],
		split: ["train", "train"],
		first: Int32Array.of(0, 3),
		count: Int32Array.of(3, 2),
	},
	events: {
		read: async (first, count) => ({
			times: times.subarray(first, first + count),
			tokens: tokens.subarray(first, first + count),
		}),
	},
	periodsOf: (patient) =>
		patient === 0
			? [
					{ start: 0, end: 15 },
					{ start: 18, end: 50 },
					{ start: 55, end: 60 },
				]
			: [{ start: 25, end: 50 }],
	labels: async () => [],
});

describe("a dataset at the end of a day", () => {
	test("has records, observation and deaths up to that day", async () => {
		const past = await datasetBefore(dataset, 20);
		expect([...past.patients("train")]).toEqual([0]);
		const { tokens, times, observed, death } = await past.read(0);
		expect([...tokens].slice(1)).toEqual([a, b]);
		expect([...times]).toEqual([0, 10, 20.9]);
		expect(observed).toEqual([
			{ start: 0, end: 15 },
			{ start: 18, end: 20 },
		]);
		expect(past.observedOf(0)).toEqual(observed);
		expect([death, past.deathOf(0), past.deathOf(1)]).toEqual([20, 20, null]);
		expect(past.lengthOf(0)).toBe(3);
		for await (const { id } of past.histories("train")) expect(id).toBe("early");
	});

	test("forgets later deaths, and has no labels, which may depend on later records", async () => {
		const past = await datasetBefore(dataset, 19);
		expect((await past.read(0)).death).toBeNull();
		await expect(past.labels("chf")).rejects.toThrow("may depend on records after 1970-01-20");
	});

	test("needs dates", async () => {
		const undated = { ...dataset, manifest: { source: { axis: "days" } } as Manifest };
		await expect(datasetBefore(undated, 20)).rejects.toThrow("has no dates");
	});
});
