import fc from "fast-check";
import { expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { parseMoment } from "../dates.js";
import { momentIn } from "./data-types.js";

test("reads dates with a precision of a year, a month or a day", () => {
	expect(parseMoment("1970")).toEqual({ day: 0, slack: 365 });
	expect(parseMoment("1972")).toEqual({ day: 730, slack: 366 });
	expect(parseMoment("1972-02")).toEqual({ day: 761, slack: 29 });
	expect(parseMoment("1970-12")).toEqual({ day: 334, slack: 31 });
	expect(parseMoment("1972-02-29")).toEqual({ day: 789, slack: 0 });
	expect(parseMoment("1969-12-31")).toEqual({ day: -1, slack: 0 });
	expect(parseMoment("2187-03-04")?.day).toBe(Date.parse("2187-03-04") / 864e5);
});

test("converts times to UTC, and adds the offset of an eastern zone to the precision", () => {
	expect(parseMoment("1970-01-02T12:00:00Z")).toEqual({ day: 1.5, slack: 0 });
	expect(parseMoment("1970-01-02T12:00:00.5+06:00")).toEqual({
		day: 1.25 + 0.5 / 86400,
		slack: 0.25,
	});
	expect(parseMoment("1970-01-02T12:00:00-06:00")).toEqual({ day: 1.75, slack: 0 });
	expect(parseMoment(" 1970-01-02 12:00 ")).toEqual({ day: 1.5, slack: 0 });
});

test("rejects texts that are not dates", () => {
	const texts =
		"2020-13 2020-00 2020-02-30 2020-01-00 0000 0020-01-01 1799-12-31 2301-01-01 20 20200101 01/02/2020 2020-01-01T24:00:00Z 2020-01-01T10:60:00Z 2020-01-01T10:00:00+15:00 2020-01-01T10:00:00+05:75 soon";
	for (const text of ["", ...texts.split(" ")]) expect(parseMoment(text)).toBeUndefined();
});

test("agrees with Date on any moment", () => {
	fc.assert(
		fc.property(
			fc.date({ min: new Date("1800-01-01"), max: new Date("2300-12-31"), noInvalidDate: true }),
			(date) => {
				expect(parseMoment(date.toISOString())?.day).toBeCloseTo(date.getTime() / 864e5, 6);
			},
		),
	);
});

test("reports an invalid date, and accepts a missing one", () => {
	expect(momentIn({}, "authoredOn", "x")).toBeUndefined();
	expect(momentIn(undefined, "start", "x")).toBeUndefined();
	expect(() => momentIn({ authoredOn: "2020-13-01" }, "authoredOn", "x.json: entry 3")).toThrow(
		new InputError(
			'x.json: entry 3: authoredOn is "2020-13-01"; expected a date such as 2020, 2020-05, 2020-05-17 or 2020-05-17T10:30:00Z; expected a year between 1800 and 2300: correct it or leave the resource out',
		),
	);
	expect(() => momentIn({ a: 2020 }, "a", "x")).toThrow("a is a number; expected a date");
	expect(() => momentIn({ a: "9".repeat(1e6) }, "a", "x")).toThrow("a text of 1000000 characters");
});
