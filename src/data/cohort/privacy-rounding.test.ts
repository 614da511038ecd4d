import fc from "fast-check";
import { expect, test } from "vitest";
import { roundUpAge, roundUpCount, roundUpDays } from "./privacy-rounding.js";

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
