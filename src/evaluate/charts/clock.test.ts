import { describe, expect, test } from "vitest";
import { type Clock, roundNumbers, spanName, timeAxis, timeName } from "./clock.js";

const dates = { axis: "dates" } as const;
const born1950: Clock = { ...dates, birth: -20 * 365.25 };
const day = (date: string) => Date.parse(date) / 86_400_000;

const shown = (clock: Clock, from: number, to: number, most: number) => {
	const { label, ticks, format } = timeAxis(clock, [from, to], most);
	return [label, ticks.map(format).join(" ")];
};

describe("times", () => {
	test("are ages where the birth is known", () => {
		expect(timeName(born1950, 0)).toBe("age 20.0");
		expect(spanName(born1950, 0, 365.25)).toBe("age 20.0–21.0");
		expect(shown(born1950, 0, 30 * 365.25, 8)).toEqual(["age in years", "20 25 30 35 40 45 50"]);
	});

	test("are dates where it is not", () => {
		expect(timeName(dates, day("2012-03-05"))).toBe("2012-03");
		expect(spanName(dates, day("2012-03-05"), day("2013-01-05"))).toBe("2012-03 to 2013-01");
		expect(spanName(dates, 30, 33)).toBe("1970-01 to 1970-02");
		expect(shown(dates, day("2001-06-01"), day("2012-06-01"), 6)).toEqual([
			"year",
			"2002 2004 2006 2008 2010 2012",
		]);
		expect(shown(dates, day("2001-06-15"), day("2002-06-01"), 6)).toEqual([
			"month",
			"2001-07 2001-10 2002-01 2002-04",
		]);
		expect(shown(dates, day("2001-06-15"), day("2001-06-19"), 4)).toEqual([
			"date",
			"2001-06-15 2001-06-16 2001-06-17 2001-06-18 2001-06-19",
		]);
	});

	test("a first of the month stays in its month", () => {
		const firsts = Array.from({ length: 600 }, (_, month) => Date.UTC(1970, month, 1));
		const names = firsts.map((first) =>
			spanName(dates, first / 86_400_000, first / 86_400_000 + 0.3).slice(0, 7),
		);
		expect(names).toEqual(firsts.map((first) => new Date(first).toISOString().slice(0, 7)));
	});

	test("are days where there is no date either", () => {
		const clock = { axis: "days", birth: null } as const;
		expect(timeName(clock, 1234.4)).toBe("day 1,234");
		expect(shown(clock, 0, 100, 5)).toEqual(["time in days", "0 20 40 60 80 100"]);
		expect(shown(clock, 0, 3652.5, 5)).toEqual(["time in years", "0 2 4 6 8 10"]);
		expect(shown(clock, 0, 0.5, 4)).toEqual(["time in hours", "0 5 10"]);
	});

	test("round numbers extend below zero, and may be a single one", () => {
		expect(roundNumbers(-0.25, 0.31, 4)).toEqual([-0.2, 0, 0.2]);
		expect(roundNumbers(3, 3, 4)).toEqual([3]);
	});
});
