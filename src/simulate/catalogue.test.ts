import { describe, expect, test } from "vitest";
import { builtInMap } from "../codes/index.js";
import { conditions } from "./catalogue/index.js";
import { drugs } from "./drugs.js";
import { subCodesOf } from "./sub-codes.js";
import { report } from "./testing/scale.js";

const byCode = new Map(conditions.map((condition) => [condition.code, condition]));

describe("the catalogue", () => {
	test("has at least 150 PheCodes of their own, in all 17 categories", () => {
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

	test("gives drugs for conditions it has", () => {
		for (const { given, atc } of drugs) {
			expect(atc).toMatch(/^[A-Z]\d\d[A-Z]{2}\d\d$/);
			for (const code of Object.keys(given)) expect(byCode.has(code)).toBe(true);
		}
	});
});

describe("ICD-9-CM codes", () => {
	test("map back to the PheCode they were drawn for", () => {
		const map = builtInMap();
		const wrong = conditions.flatMap(({ code }, at) =>
			subCodesOf(at).flatMap((icd9) => {
				const found = map.phecodesOf("ICD9CM", icd9);
				return found.length === 1 && found[0] === code ? [] : [{ code, icd9, found }];
			}),
		);
		expect(wrong).toEqual([]);
	});
});
