import { describe, expect, test } from "vitest";
import { builtInMap } from "../codes/index.js";
import { conditions } from "./catalogue/index.js";
import { conditionsIn } from "./catalogue/parse.js";
import { drugs } from "./drugs.js";
import { report } from "./testing/scale.js";

/** The codes that a record of diabetes may have: sub-codes.ts. */
const diabetesCodes = ["0", "1"]
	.flatMap((type) => [`2504${type}`, `2505${type}`, `2506${type}`])
	.concat("25000", "25001", "25002", "25003", "79029", "V5867");

const byCode = new Map(conditions.map((condition) => [condition.code, condition]));

describe("the catalogue", () => {
	test("has at least 150 distinct PheCodes in all 17 categories", () => {
		const edges = conditions.flatMap(({ causes }) => Object.keys(causes ?? {})).length;
		const companions = conditions.flatMap(({ also }) => Object.keys(also ?? {})).length;
		report("catalogue", { conditions: conditions.length, causes: edges, companions });
		expect(byCode.size).toBe(conditions.length);
		expect(byCode.size).toBeGreaterThanOrEqual(150);
		expect(edges).toBeGreaterThanOrEqual(200);
		expect(new Set(conditions.map(({ category }) => category)).size).toBe(17);
	});

	test("names causes and companions that exist, and never the condition itself", () => {
		for (const { code, causes = {}, also = {} } of conditions) {
			for (const other of [...Object.keys(causes), ...Object.keys(also)]) {
				expect(byCode.has(other), `${code} names ${other}`).toBe(true);
				expect(other).not.toBe(code);
			}
			for (const chance of Object.values(also)) expect(chance).toBeLessThan(1);
			for (const factor of Object.values(causes)) expect(factor).toBeGreaterThan(1);
		}
	});

	test("makes heart failure follow from its precursors, and renal failure from both", () => {
		const causes = (code: string) => Object.keys(byCode.get(code)?.causes ?? {});
		expect(causes("428")).toEqual(
			expect.arrayContaining(["250", "394", "395", "401", "411", "425", "427", "585"]),
		);
		expect(causes("585")).toEqual(expect.arrayContaining(["250", "401", "428"]));
	});

	test("is sorted by code", () => {
		const codes = conditions.map(({ code }) => code);
		expect(codes).toEqual(codes.toSorted());
	});

	test("has drugs only for its own conditions", () => {
		for (const { given, atc } of drugs) {
			expect(atc).toMatch(/^[A-Z]\d\d[A-Z]{2}\d\d$/);
			for (const code of Object.keys(given)) expect(byCode.has(code)).toBe(true);
		}
	});
});

describe("an entry of the catalogue", () => {
	const parsed = (table: string) => conditionsIn({ category: "some", table });

	test("has fields in any order, on indented lines too", () => {
		const [entry, ...others] = parsed(`
540 Appendicitis | icd9 540.9 V47.3 | rate 0.0014 | ages at least 0.2 between 4-12 and 25-60
	| again 0.45 after 8 days | season peak 32 swing 0.9 | sex female only | deadly 1.2 | also 285:0.05
	| causes 071×4 250×1.5
`);
		expect(others).toEqual([]);
		expect(entry).toEqual({
			...{ code: "540", name: "Appendicitis", category: "some", course: "acute" },
			...{ perYear: 0.0014, ages: expect.any(Function), again: [0.45, 8], deadly: 1.2 },
			...{ season: { peak: 32, swing: 0.9 }, sex: { male: 0 }, also: { "285": 0.05 } },
			...{ causes: { "071": 4, "250": 1.5 }, icd9: ["5409", "V473"] },
		});
		expect(entry?.ages(18)).toBeGreaterThan(0.9);
		expect(entry?.ages(100)).toBeCloseTo(0.2, 2);
	});

	const start = "540 Appendicitis | rate 0.1 | ages any | icd9 540.9";
	test.each([
		["Appendicitis | rate 1", 'expected a PheCode and a name, got "Appendicitis"'],
		[`${start} | evry 9 days`, 'no field "evry"; expected one of rate, ages, every'],
		[`${start} | every 9`, 'expected "# days" with numbers for #, got "9"'],
		[`${start} | every 9 days | causes 071*4`, 'expected "#" with numbers for #, got ""'],
		[`${start} | every 9 days | rate 2`, '"rate 2" repeats another field'],
		[`${start} | every 9 days | season winter`, "season is not for chronic conditions"],
		[`${start} | again 0.5 after 9 days | stays 0.5`, "stays is not for acute conditions"],
		[start, "course is missing"],
		["540 A | rate 1 | ages old 3", 'no age curve "old"; expected one of any, rising'],
		["540 A | rate 1 | ages rising 3", 'expected "rising #-#" with numbers for #, got "rising 3"'],
	])("is rejected with a reason: %s", (table, message) => {
		expect(() => parsed(table)).toThrow(`some: ${message}`);
		expect(() => parsed(table)).toThrow(`in: ${table}`);
	});
});

describe("ICD-9-CM codes", () => {
	test("map back to the PheCode of their condition", () => {
		const map = builtInMap();
		const wrong = conditions.flatMap(({ code, icd9 }) =>
			(code === "250" ? diabetesCodes : icd9).flatMap((icd9) => {
				const found = map.phecodesOf("ICD9CM", icd9);
				return found.length === 1 && found[0] === code ? [] : [{ code, icd9, found }];
			}),
		);
		expect(wrong).toEqual([]);
	});
});
