import { describe, expect, test } from "vitest";
import { ageFactor, conditions, hazard } from "./conditions.js";
import { simulateHistories } from "./histories.js";

const byCode = new Map(conditions.map((condition) => [condition.code, condition]));

describe("the conditions", () => {
	test("have codes of their own and known causes, and none causes itself", () => {
		expect(byCode.size).toBe(conditions.length);
		for (const { code, causes = [] } of conditions)
			for (const cause of causes) {
				expect(byCode.get(cause.code)?.course).toBe("chronic");
				expect(cause.code).not.toBe(code);
			}
	});

	test("grow with age between the ages they name, or fall", () => {
		expect(ageFactor([30, 60], 30)).toBeCloseTo(0.1, 3);
		expect(ageFactor([30, 60], 45)).toBeCloseTo(0.5, 3);
		expect(ageFactor([30, 60], 60)).toBeCloseTo(0.9, 3);
		expect(ageFactor([30, 2], 2)).toBeCloseTo(0.9, 3);
		expect(ageFactor([30, 2], 30)).toBeCloseTo(0.1, 3);
	});

	test("have the hazard their causes give them", () => {
		const renal = byCode.get("585") as (typeof conditions)[number];
		const alone = hazard(renal, 70, "female", () => false);
		expect(alone).toBeCloseTo(0.002 * ageFactor([55, 80], 70), 12);
		expect(hazard(renal, 70, "male", (code) => code === "250")).toBeCloseTo(6 * alone, 12);
		expect(hazard(renal, 70, "male", () => true)).toBeCloseTo(54 * alone, 12);
		const delivery = byCode.get("650") as (typeof conditions)[number];
		expect(hazard(delivery, 30, "male", () => false)).toBe(0);
		expect(hazard(delivery, 50, "female", () => false)).toBe(0);
	});
});

describe("the population", () => {
	const people = [...simulateHistories({ patients: 600, seed: 3 })];

	test("is the same for a seed, and a patient does not depend on how many there are", () => {
		const few = [...simulateHistories({ patients: 20, seed: 3 })];
		expect(few).toEqual(people.slice(0, 20));
		expect([...simulateHistories({ patients: 20, seed: 4 })]).not.toEqual(few);
	});

	test("has whole days in order, after birth", () => {
		for (const { birth, times, types } of people) {
			expect(types.length).toBe(times.length);
			for (const [i, time] of times.entries()) {
				expect(Number.isInteger(time)).toBe(true);
				expect(time).toBeGreaterThanOrEqual(times[i - 1] ?? birth);
			}
		}
	});

	test("has histories of a useful length, and every code", () => {
		const lengths = people.map(({ types }) => types.length).sort((a, b) => a - b);
		expect(lengths[300]).toBeGreaterThan(30);
		expect(lengths[300]).toBeLessThan(120);
		expect(new Set(people.flatMap(({ types }) => types)).size).toBe(conditions.length);
	});

	const shareWith = (code: string, among: typeof people) =>
		among.filter(({ types }) => types.includes(code)).length / among.length;

	test("shows its causes", () => {
		const old = people.filter(
			({ birth, times }) => ((times.at(-1) ?? birth) - birth) / 365.25 > 60,
		);
		const diabetic = old.filter(({ types }) => types.includes("250"));
		const others = old.filter(({ types }) => !types.includes("250"));
		expect(shareWith("585", diabetic)).toBeGreaterThan(2 * shareWith("585", others));
	});

	test("follows chronic conditions up at nearly regular gaps, and acute ones in bursts", () => {
		const spreadOfGaps = (code: string) => {
			const ratios = people.flatMap(({ types, times }) => {
				const own = times.filter((_, i) => types[i] === code);
				const gaps = own.slice(1).map((time, i) => time - (own[i] as number));
				if (gaps.length < 8) return [];
				const mean = gaps.reduce((a, b) => a + b) / gaps.length;
				const variance = gaps.reduce((a, b) => a + (b - mean) ** 2, 0) / gaps.length;
				return [Math.sqrt(variance) / mean];
			});
			return ratios.reduce((a, b) => a + b) / ratios.length;
		};
		expect(spreadOfGaps("250")).toBeLessThan(0.75);
		expect(spreadOfGaps("760")).toBeGreaterThan(1.2);
	});

	test("respects sex", () => {
		for (const { sex, types } of people)
			expect(types.includes(sex === "male" ? "650" : "185")).toBe(false);
	});
});
