import { expect, test } from "vitest";
import { dayOfIsoDate } from "../../base/time.js";
import type { Dataset, Period } from "../../data/cohort/index.js";
import { smallDataset } from "../testing/small-dataset.js";
import { chosenIndex } from "./usual-index.js";

const day = (date: string) => dayOfIsoDate(date) as number;
const period = (start: string, end: string): Period => ({ start: day(start), end: day(end) });

interface Person {
	readonly observed: Period;
	readonly death?: string;
}

function datasetOf(people: readonly Person[], axis: "dates" | "days" = "dates"): Dataset {
	const dataset = smallDataset(
		[9],
		people.map(({ observed, death }) => ({
			split: "test" as const,
			tokens: [5],
			times: [observed.start],
			observed: [observed],
			...(death !== undefined && { death: day(death) }),
		})),
	);
	return { ...dataset, manifest: { source: { axis } } as Dataset["manifest"] };
}

const options = { split: "test" } as const;

test("the first of January with the most time at risk within five years after it", () => {
	const long = { observed: period("2000-01-01", "2012-12-31") };
	// 2001 to 2007 leave five years; of these, 2003 has two more people.
	const late = { observed: period("2001-06-01", "2006-01-01") };
	const people = [long, late, late];
	expect(chosenIndex(datasetOf(people), options)).toEqual({
		index: "2003-01-01",
		why: "the first of January with the most time at risk within 5 years after it: 11 years of 3 patients",
	});
	// A longer look-back leaves them out on that day.
	expect(chosenIndex(datasetOf(people), { ...options, lookBackDays: 900 }).index).toBe(
		"2004-01-01",
	);
	// Time at risk ends with death; nobody is at risk who is dead.
	const dead = { ...late, death: "2002-12-31" };
	expect(chosenIndex(datasetOf([long, dead, dead]), options).index).toBe("2001-01-01");
});

test("is what was asked for, or the day of a cut", () => {
	const dataset = datasetOf([{ observed: period("2000-01-01", "2009-12-31") }]);
	expect(chosenIndex(dataset, { ...options, index: "visit" })).toEqual({ index: "visit" });
	const before = day("2005-06-30");
	expect(chosenIndex(dataset, { ...options, before })).toEqual({ index: "2005-06-30" });
});

test("is random where dates say nothing about patients together", () => {
	const one = { observed: period("2000-01-01", "2009-12-31") };
	expect(chosenIndex(datasetOf([one], "days"), options)).toEqual({
		index: "random",
		why: "times are not dates",
	});
	// As where each patient's dates are shifted by another number of years.
	const shifted = Array.from({ length: 11 }, (_, i) => {
		const year = 2100 + 5 * i;
		return { observed: period(`${year}-02-01`, `${year + 2}-06-30`) };
	});
	const { index, why } = chosenIndex(datasetOf(shifted), options);
	expect(index).toBe("random");
	expect(why).toMatch(
		/^only 1 of 11 patients are at risk on 21\d2-01-01, the best first of January$/,
	);
	const brief = { observed: period("2000-02-01", "2000-12-01") };
	expect(chosenIndex(datasetOf([brief]), options).why).toBe(
		"nobody is at risk on a first of January",
	);
});
