import { describe, expect, test } from "vitest";
import { smallDataset } from "../testing/small-dataset.js";
import * as index from "./index-days.js";
import { followUps, onsetsWithin } from "./study.js";

const observed = [{ start: 1000, end: 3000 }];
const person = {
	...{ split: "test" as const, birth: 0, observed },
	tokens: [5, 6, 7],
	times: [1200, 1900, 2500],
};
const dataset = smallDataset(
	[9, 9, 9, 9],
	[
		person,
		{ ...person, death: 2400 },
		{ ...person, observed: [{ start: 1900, end: 2100 }] },
		// Two periods: the middle 30 to 70 % of 2002 days are the days 600 to 1401.
		{
			...person,
			observed: [
				{ start: 0, end: 1000 },
				{ start: 2000, end: 3000 },
			],
		},
	],
);
const cohortOf = (rule: index.IndexRule, seed = 1) =>
	index.indexCohort(dataset, "test", rule, { seed, lookBackDays: 365 });

describe("an index day", () => {
	test("is parsed from random, visit, a date or an age", () => {
		expect(index.parseIndexRule("visit")).toEqual({ kind: "visit" });
		expect(index.parseIndexRule("1970-01-11")).toEqual({ kind: "date", day: 10 });
		expect(index.parseIndexRule("age:50")).toEqual({ kind: "age", years: 50 });
		for (const text of ["sometime", "age:old", "2015-13-01"])
			expect(() => index.parseIndexRule(text)).toThrow(/expected random, visit, a date/);
		expect(index.parseIndexRule("age:120")).toEqual({ kind: "age", years: 120 });
		expect(() => index.parseIndexRule("age:300")).toThrow(
			"`index` is age:300; expected an age of at most 120 years, as in age:60",
		);
	});

	test("at random lies in the middle of observed time, after the look-back, before death", async () => {
		for (let seed = 0; seed < 40; seed++) {
			const { patients, excluded } = await cohortOf({ kind: "random" }, seed);
			expect(excluded).toEqual({ "no time in the middle of observation": 1 });
			const days = new Map(patients.map(({ history, day }) => [history.id, day]));
			for (const id of ["p0", "p1"]) {
				expect(days.get(id)).toBeGreaterThanOrEqual(1601);
				expect(days.get(id)).toBeLessThanOrEqual(id === "p1" ? 2399 : 2400);
			}
			// In the second period, the look-back ends shortly before the middle does.
			const day = days.get("p3") as number;
			expect((day >= 600 && day <= 1000) || (day >= 2365 && day <= 2400)).toBe(true);
		}
	});

	test("on a visit is the day of a record; on a date the same for everybody", async () => {
		const visits = await cohortOf({ kind: "visit" });
		for (const { history, day } of visits.patients) expect(history.times).toContain(day);
		const dated = await cohortOf({ kind: "date", day: 2000 });
		expect(dated.patients.map(({ history, day }) => [history.id, day])).toEqual([
			["p0", 2000],
			["p1", 2000],
		]);
		expect(dated.excluded).toEqual({ "look-back not covered": 2 });
	});
});

test("codes of the index day are history; others are followed until onset, death or the end", async () => {
	const { patients } = await cohortOf({ kind: "date", day: 1900 });
	const codes = followUps(patients, 9, []);
	expect(codes[6]?.time).toHaveLength(0);
	expect([...(codes[7]?.time ?? [])]).toEqual([600, 500]);
	expect([...(codes[7]?.status ?? [])]).toEqual([1, 2]);
	expect([...(codes[8]?.time ?? [])]).toEqual([1100, 500]);
	expect([...(codes[8]?.status ?? [])]).toEqual([0, 2]);
	expect(onsetsWithin(codes[7] as (typeof codes)[0], 600)).toBe(1);
	expect(onsetsWithin(codes[7] as (typeof codes)[0], 599)).toBe(0);
});

const [disease, other] = [5, 6];

describe("labels of onset", () => {
	const observed = [{ start: 0, end: 1000 }]; // index days from 365 to 700
	const long = [{ start: 0, end: 10_000 }];
	const person = { split: "train" as const, birth: -9000, tokens: [other], times: [10] };
	const dataset = smallDataset(
		[9, 9],
		[
			{ ...person, observed, tokens: [other, disease], times: [10, 900] },
			{ ...person, observed },
			{ ...person, observed: long },
			{ ...person, observed, tokens: [disease], times: [100] },
			{ ...person, observed, death: 800 },
			{ ...person, observed: long, split: "test", tokens: [other, disease], times: [10, 9000] },
			{ ...person, observed: [{ start: 0, end: 300 }] },
		],
	);

	test("are of patients at risk whose outcome is known: onset yes, death or later no", async () => {
		const { labels, censored } = await index.onsetLabels(dataset, [disease]);
		expect(labels.map(({ patient, value, events }) => [patient, value, events])).toEqual([
			[0, true, 1],
			[2, false, 1],
			[4, false, 1],
			[5, false, 1],
		]);
		expect(censored).toEqual({ train: 1, valid: 0, test: 0 });
		for (const { time, patient } of labels)
			if (patient !== 2 && patient !== 5) {
				expect(time).toBeGreaterThanOrEqual(365);
				expect(time).toBeLessThanOrEqual(700);
			}
	});

	test("have weights that make up for those who were censored", async () => {
		const { labels } = await index.onsetLabels(dataset, [disease]);
		const train = labels.filter(({ patient }) => patient < 5);
		// Four training patients are at risk; the censored one is represented by those observed longer.
		expect(train.reduce((sum, { weight = 0 }) => sum + weight, 0)).toBeCloseTo(4, 12);
		expect(train.find(({ patient }) => patient === 2)!.weight).toBeGreaterThan(1);
		expect(labels.at(-1)!.weight).toBe(1);
	});
});
