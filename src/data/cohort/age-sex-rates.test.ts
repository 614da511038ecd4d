import { describe, expect, test } from "vitest";
import {
	bandCount,
	incidenceAtRate,
	incidenceByAgeAndSex,
	incidencesByAgeAndSex,
} from "./age-sex-rates.js";

const year = 365.25;
const woman = { birthEvents: 1 as const, sex: "female" as const, times: [0] };
/** Rates per year of one code and of death, the same in all bands but those that are given. */
const rates = (usual: [number, number], own: Record<number, [number, number]> = {}) => {
	const bands = Array.from({ length: bandCount }, (_, band) =>
		(own[band] ?? usual).map((rate) => rate / year),
	);
	return { female: bands, male: bands.map((band) => band.map(() => 0)) };
};

test("the incidence at a constant rate falls short of certainty by deaths", () => {
	expect(incidenceAtRate(0.001, 0, 1000)).toBeCloseTo(1 - Math.exp(-1), 12);
	expect(incidenceAtRate(0.001, 0.001, 1e9)).toBeCloseTo(0.5, 12);
	expect(incidenceAtRate(0, 0, 1000)).toBe(0);
});

describe("people of the same age and sex", () => {
	test("at the same rates at all ages have the incidence at a constant rate", () => {
		for (const days of [100, year, 9.5 * year])
			expect(incidenceByAgeAndSex(rates([0.02, 0.01]), woman, 40 * year, [0], days)).toBeCloseTo(
				incidenceAtRate(0.02 / year, 0.01 / year, days),
				12,
			);
		expect(incidenceByAgeAndSex(rates([0.02, 0.01]), woman, 40 * year, [0], 0)).toBe(0);
		const man = { ...woman, sex: "male" as const };
		expect(incidenceByAgeAndSex(rates([0.02, 0.01]), man, 40 * year, [0], year)).toBe(0);
	});

	test("grow older: the rates are those of the ages that they reach", () => {
		// From the middle of the ninth band (42.5 years), rates rise tenfold to that of the tenth.
		const rising = rates([0.001, 0], { 9: [0.01, 0] });
		const within = (age: number, years: number) =>
			incidenceByAgeAndSex(rising, woman, age * year, [0], years * year) as number;
		const log10 = [0.1, 0.3, 0.5, 0.7, 0.9];
		const hazard = log10.reduce((sum, own) => sum + 0.001 * 10 ** own, 0);
		expect(within(42.5, 5)).toBeCloseTo(-Math.expm1(-hazard), 12);
		// A day later makes no jump.
		expect(within(45, 1) / within(45 - 1 / year, 1)).toBeCloseTo(1, 2);
		expect(within(50 - 1 / year, 1) / within(50, 1)).toBeCloseTo(1, 2);
	});

	test("have several outputs independently of one another, and each on its own", () => {
		const both = { female: rates([0.02, 0.03]).female.map(([a, b]) => [a, b, 0] as number[]) };
		const of = { ...both, male: both.female };
		const each = incidencesByAgeAndSex(of, woman, 40 * year, [0, 1], year);
		expect([...each]).toEqual([
			expect.closeTo(-Math.expm1(-0.02), 12),
			expect.closeTo(-Math.expm1(-0.03), 12),
		]);
		expect(incidenceByAgeAndSex(of, woman, 40 * year, [0, 1], year)).toBeCloseTo(
			-Math.expm1(-0.05),
			12,
		);
	});

	test("are unknown without birth or sex", () => {
		const known = rates([0.02, 0.01]);
		expect(incidenceByAgeAndSex(known, { ...woman, sex: null }, 0, [0], year)).toBeUndefined();
		expect(incidenceByAgeAndSex(known, { ...woman, birthEvents: 0 }, 0, [0], year)).toBe(undefined);
	});
});
