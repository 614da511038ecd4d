import { describe, expect, test } from "vitest";
import type { TimeAxis } from "../../base/time.js";
import type { Manifest, NewPatient } from "../../data/cohort/index.js";
import {
	dayText,
	editWarnings,
	momentJson,
	momentOf,
	momentsOf,
	nothingRecorded,
	spanDays,
	spanText,
	timeGrid,
	timesOf,
	warningsFor,
} from "./moments.js";

const person = (id: string, birth: number | null, ...times: number[]): NewPatient => ({
	id,
	sex: null,
	birth,
	death: null,
	lastRecord: times.at(-1) ?? null,
	history: {
		id,
		sex: null,
		tokens: Int32Array.from(times, () => 5),
		times: Float64Array.from(times),
		birthEvents: 0,
		observed: [],
		death: null,
	},
});
const dates = "dates";
const days = "days";
const one = (text: string, patient: NewPatient, axis: TimeAxis) =>
	timesOf([momentOf(text)], [patient], axis, "--at")[0]?.[0];

describe("a time as a user writes it", () => {
	test("date, day, age, and time since the last event", () => {
		expect(momentOf("1970-03-02")).toEqual({ text: "1970-03-02", kind: "date", days: 60 });
		expect(momentOf("-12.5")).toEqual({ text: "-12.5", kind: "day", days: -12.5 });
		expect(momentOf("age:65").days).toBe(65 * 365.25);
		expect(momentOf("age:18m").days).toBe(547.875);
		expect(momentOf("+2w")).toEqual({ text: "+2w", kind: "since", days: 14 });
		expect(momentOf("-0.5y").days).toBe(-182.625);
		expect(momentsOf("+1m, +1y", [momentOf("3")]).map(({ text }) => text)).toEqual([
			"3",
			"+1m",
			"+1y",
		]);
	});

	test("what is none of these is refused", () => {
		for (const text of ["", "65y", "2015-6-1", "+1", "age:", "tomorrow", "+1m,"])
			expect(() => momentsOf(text), text).toThrow("Expected a date (2015-06-01)");
		expect(() => momentOf("2015-02-30")).toThrow("There is no such date.");
	});

	test("more than a thousand years, or a day farther than any record's, is refused", () => {
		expect(momentOf("+1000y").days).toBe(365_250);
		for (const text of ["+1000000000y", "-1000.1y", "+365251d", "age:1001", "age:99999999999999"])
			expect(() => momentOf(text), text).toThrow("Expected at most 1000 years (1000y).");
		expect(() => spanDays("1001y")).toThrow("Expected at most 1000 years");
		expect(() => momentOf("-99999999999")).toThrow(
			"Expected a day from -10000000000 to 10000000000.",
		);
		expect(dayText(momentOf("+1000y").days, dates)).toBe("2970-01-08");
	});

	test("lengths of time", () => {
		expect([spanDays("10d"), spanDays("6m"), spanDays("1.5y")]).toEqual([10, 182.625, 547.875]);
		for (const text of ["0d", "-1d", "1", "1s", "0h"])
			expect(() => spanDays(text)).toThrow("Expected");
	});

	test("is written in the largest unit that fits", () => {
		const spans = [365.25, 1826.25, 3652, 182.625, 183, 30, 1].map(spanText);
		expect(spans).toEqual([
			...["1 year", "5 years", "10 years", "6 months", "183 days", "30 days", "1 day"],
		]);
		expect([0.5, 1 / 24, 1 / 16, 1.5].map(spanText)).toEqual([
			...["12 hours", "1 hour", "90 minutes", "36 hours"],
		]);
		expect(["12h", "90min", "2d"].map(spanDays)).toEqual([0.5, 0.0625, 2]);
	});
});

describe("the time it is for a patient", () => {
	test("in days", () => {
		const patient = person("p", 30, 60, 210);
		expect(one("1970-03-02", patient, dates)).toBe(60);
		expect(one("+60d", patient, dates)).toBe(270);
		expect(one("+12h", patient, dates)).toBe(210.5);
		expect(one("-90min", patient, dates)).toBe(209.9375);
		expect(one("age:36h", patient, dates)).toBe(31.5);
		expect(one("-30d", patient, dates)).toBe(180);
		expect(one("age:30d", patient, dates)).toBe(60);
		expect(one("12", person("p", null, 3), days)).toBe(12);
	});

	test("counts from the last record, though its code be unknown", () => {
		expect(one("-5d", { ...person("p", null, 3), lastRecord: 400 }, days)).toBe(395);
	});

	test("is refused on another axis, without a birth, and before it", () => {
		expect(() => one("5", person("p", 0), dates)).toThrow("these records have dates");
		expect(() => one("2015-01-01", person("p", 0), days)).toThrow("an origin of their own");
		expect(() => one("age:3", person("p7", null, 1), days)).toThrow(
			"the birth of patient p7 is not known",
		);
		expect(() => one("1969-12-31", person("p7", 0, 1), dates)).toThrow(
			"--at 1969-12-31 lies before the birth of patient p7 (1970-01-01); choose a later time",
		);
		const people = [person("p1", 9), person("p2", null), person("p3", 9), person("p4", 1)];
		expect(() => timesOf([momentOf("5")], people, days, "--at")).toThrow(
			"before the birth of patient p1 (day 9), and of 1 others of 4 patients",
		);
	});
});

test("times are written as dates or days, with the age", () => {
	expect(dayText(16_000, dates)).toBe("2013-10-22");
	expect(momentJson(16_000, 0, dates)).toEqual({
		date: "2013-10-22",
		day: 16_000,
		ageYears: expect.closeTo(43.8056, 4),
	});
	expect(momentJson(2.25, null, days)).toEqual({ day: 2.25, ageYears: null });
	expect(dayText(2.25, days)).toBe("day 2.25");
	expect(dayText(200.25, days)).toBe("day 200.3");
});

/** Someone born on day -50. */
const born = (...times: number[]) => {
	const patient = person("p", -50, -50, ...times);
	const history = { ...patient.history, birthEvents: 1 as const };
	return { patient: { ...patient, history }, axis: "days" as const };
};

test("equal steps between two times, both included where they fit", () => {
	const times = timeGrid(born(0, 40), {
		from: momentOf("10"),
		to: momentOf("+0.3d"),
		step: 0.1,
	});
	expect(times).toHaveLength(304);
	expect([times[0], times.at(-1)]).toEqual([10, expect.closeTo(40.3, 9)]);
	expect([...timeGrid(born(0), { to: momentOf("25"), step: 10 })]).toEqual([0, 10, 20]);
});

test("by default from the first event to the last record, by months or so", () => {
	const times = timeGrid(born(0, 4826), {});
	expect([times[0], times.length, times.at(-1)]).toEqual([0, 160, 4826]);
	expect((times[1] as number) - (times[0] as number)).toBeCloseTo(365.25 / 12);
	const short = timeGrid(born(0), { to: momentOf("2") });
	expect([...short]).toEqual([0, 1, 2]);
	expect([...timeGrid(born(7), {})]).toEqual([7]);
});

test("refuses an end before the start, and more times than can be meant", () => {
	expect(() => timeGrid(born(0), { to: momentOf("-10") })).toThrow(
		"`from` (the first event) lies after `to` -10",
	);
	expect(() => timeGrid(born(0, 1826.25), { step: 0.01 })).toThrow(
		"`step` makes 182,626 times; expected at most 20,000",
	);
});

test("a time before the first record is warned of, whether or not the birth is known", () => {
	const patientOf = (birth: number | null, ...records: number[]) => {
		const times = Float64Array.from(birth === null ? records : [birth, ...records]);
		const history = { times, tokens: times, birthEvents: birth === null ? 0 : 1 };
		return { id: "ann", birth, death: null, history } as unknown as NewPatient;
	};
	const warned = (patient: NewPatient, ...times: number[]) =>
		warningsFor(
			{ unknown: { codes: 0, records: 0 } },
			times.map((time) => ({ patient, time })),
			{} as Manifest,
			nothingRecorded,
		);
	const why = "(ann first): no record is known then, at most age and sex";
	expect(warned(patientOf(null, 900.5, 1000), 0, 899, 901)).toEqual([
		`2 query times are before the first event ${why}`,
	]);
	expect(warned(patientOf(10, 900.5, 1000), 10, 899, 900, 901)).toEqual([
		`2 query times are before the first record ${why}`,
	]);
});

test("an edit that makes a history longer than any of the training is warned of", () => {
	const reach = { longestDays: 3652.5, oldestDays: null };
	const day = (date: string) => Date.parse(date) / 86_400_000;
	const recent = [day("2010-01-01"), day("2015-01-01")];
	expect(editWarnings(recent, { reach })).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], { reach })).toEqual([
		"the edited history spans 315 years, longer than any the model was trained on; the longest spans 10 years: check the times of --add and --move",
	]);
	expect(editWarnings([], { reach })).toEqual([]);
	expect(editWarnings(recent, { reach }, 1)).toEqual([
		"1 event is added after the index day: the risk from that day does not change by it; give an earlier time to --add, or a later --at",
	]);
	const unknown = { reach: undefined };
	expect(editWarnings([day("1900-01-01"), ...recent], unknown)).toEqual([]);
	expect(editWarnings([day("1700-01-01"), ...recent], unknown)).toHaveLength(1);
});
