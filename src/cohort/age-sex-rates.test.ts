import { describe, expect, test } from "vitest";
import { cellOf, incidenceAtRate, onsetSums, ratesOf, trainingLandmarks } from "./age-sex-rates.js";
import type { History } from "./history.js";
import { historiesDataset } from "./testing/histories-dataset.js";

const year = 365.25;
const vocab = 8;

/** Someone born on day 0 who is observed around the age of 29: index days lie in one age band. */
const person = (id: string, more: Partial<History> = {}): History => ({
	...{ id, sex: "female", birthEvents: 1, death: null },
	tokens: Int32Array.of(3),
	times: Float64Array.of(0),
	observed: [{ start: 10_000, end: 10_900 }],
	...more,
});
const recorded = (token: number, day: number) => ({
	tokens: Int32Array.of(3, token),
	times: Float64Array.of(0, day),
});
const options = { horizonDays: 1826, lookBackDays: 365, seed: 1 };

test("index days lie where a patient is at risk", () => {
	const days = [...trainingLandmarks(person("a"), 1, 365)].map(({ day }) => day);
	expect(days.length).toBeGreaterThan(0);
	for (const day of days) {
		expect(day).toBeGreaterThanOrEqual(10_365);
		expect(day).toBeLessThan(10_900);
	}
	expect([...trainingLandmarks(person("a"), 1, 1000)]).toEqual([]);
});

describe("first records by age and sex", () => {
	const dataset = historiesDataset(
		[
			person("a", recorded(5, 10_895)),
			person("b", recorded(5, 10_000)),
			person("c", { sex: "male", ...recorded(6, 10_895), death: 10_895 }),
			person("d"),
		],
		vocab,
	);

	test("count those after an index day of people who had none before, groups and deaths too", async () => {
		const { width, onsets, days, patients } = await onsetSums(dataset, "train", {
			...options,
			groups: [[5, 6]],
		});
		expect([width, patients]).toEqual([vocab + 2, 4]);
		const at = (sex: "female" | "male", output: number) => {
			const history = { birthEvents: 1 as const, times: Float64Array.of(0), sex };
			const cell = cellOf({ history, day: 10_365 }) * width + output;
			return [onsets[cell], days[cell]] as [number, number];
		};
		const [of5, days5] = at("female", 5);
		const [, days6] = at("female", 6);
		// b has token 5 already: its index days count for 6 only.
		expect(of5).toBeGreaterThan(0);
		expect(days5).toBeLessThan(days6);
		expect(at("female", vocab)).toEqual(at("female", 5));
		expect(at("male", 6)).toEqual(at("male", vocab));
		expect(at("male", width - 1)[0]).toBe(at("male", 6)[0]);
		expect(at("female", width - 1)[0]).toBe(0);
		expect(onsets.reduce((sum, value) => sum + value, 0)).toBe(2 * of5 + at("male", 6)[0] * 3);
	});

	test("leave out patients who do not count", async () => {
		const { patients } = await onsetSums(dataset, "train", {
			...options,
			counts: ({ sex }) => sex === "male",
		});
		expect(patients).toBe(1);
	});
});

describe("rates", () => {
	const prior = 100 * year;

	test("are drawn towards the rate at the age, of the same sex", () => {
		const sums = {
			...{ width: 1, patients: 2 },
			onsets: Float64Array.of(10, 0, 30, 0),
			days: Float64Array.of(1000, 1000 * year, 5000, 1000),
		};
		const overall = 40.5 / (6000 + 365);
		const atAge = (10 + 0.5 * 30 + 365 * overall) / (1000 + 0.5 * 5000 + 365);
		const [female, male] = ratesOf(sums, 100);
		expect(female).toBeCloseTo((10 + prior * atAge) / (1000 + prior), 12);
		// Half an onset in 1,000 years of men, however many women have it.
		expect(male).toBeLessThan(2e-6);
	});

	test("of an age with few people are those of the ages next to it", () => {
		// Rates rise tenfold from band to band; the last band has one person for a year.
		const [people, few] = [10_000 * year, year];
		const sums = {
			...{ width: 1, patients: 1 },
			onsets: Float64Array.of(10, 10, 100, 100, 1000, 1000, 0, 0),
			days: Float64Array.of(people, people, people, people, people, people, few, few),
		};
		const rates = ratesOf(sums, 100);
		const [young, old, oldest] = [rates[0], rates[4], rates[6]] as [number, number, number];
		expect(oldest).toBeGreaterThan(0.5 * old);
		expect(old).toBeGreaterThan(50 * young);
	});
});

test("the incidence at a constant rate falls short of certainty by deaths", () => {
	expect(incidenceAtRate(0.001, 0, 1000)).toBeCloseTo(1 - Math.exp(-1), 12);
	expect(incidenceAtRate(0.001, 0.001, 1e9)).toBeCloseTo(0.5, 12);
	expect(incidenceAtRate(0, 0, 1000)).toBe(0);
});
