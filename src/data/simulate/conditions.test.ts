import { describe, expect, test } from "vitest";
import { builtInMap } from "../codes/index.js";
import catalogue from "./conditions.json" with { type: "json" };
import { drugs } from "./prescriptions.js";
import { ageCurve, type ConditionRow, conditions } from "./tables.js";
import { report } from "./testing/population.js";

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

	test("has no field of the wrong course, and none that is misspelt", () => {
		const common = ["code", "name", "perYear", "ages", "sex", "deadly", "causes", "also", "icd9"];
		const chronic = [...common, "everyDays", "stays", "carried"];
		const acute = [...common, "again", "season"];
		const rows: readonly ConditionRow[] = Object.values(catalogue).flat();
		for (const row of rows) {
			const fields = "everyDays" in row ? chronic : acute;
			expect(Object.keys(row).filter((field) => !fields.includes(field))).toEqual([]);
			expect(row.code).toMatch(/^\d{3}$/);
		}
	});
});

describe("an age curve", () => {
	test("may be at least a share", () => {
		const curve = ageCurve("at least 0.2 between 4-12 and 25-60");
		expect(curve(18)).toBeGreaterThan(0.9);
		expect(curve(100)).toBeCloseTo(0.2, 2);
	});

	test.each([
		["old 3", 'no age curve "old"; expected one of any, rising'],
		["rising 3", 'expected "rising #-#" with numbers for #, got "rising 3"'],
		["at least x any", 'expected "#" with numbers for #, got "x"'],
	])("is refused with a reason: %s", (text, message) => {
		expect(() => ageCurve(text)).toThrow(message);
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
