import { describe, expect, test } from "vitest";
import { marksOf } from "./label-rules.js";

const marks = (name: string, more: { system?: string; code?: string; kind?: string } = {}) =>
	marksOf({ system: "NDC", code: "1", kind: "drug", name, ...more }, []);

describe("insulin", () => {
	test.each([
		"INSULIN",
		"Insulin Glargine",
		"Humulin-R",
		"3 ML insulin, regular, human 100 UNT/ML Prefilled Syringe",
		"0.5 ML insulin lispro 100 UNT/ML Pre-filled Syringe [Humalog]",
		"3 ML insulin glargine 100 UNT/ML Pen Injector [Lantus]",
		"3 ML insulin aspart, human 100 UNT/ML Cartridge",
		"insulin aspart pre-filled pens, needles not included",
	])("is %s", (name) => expect(marks(name)).toEqual(["insulin"]));

	test.each([
		"INSULIN SYRINGES 1ML",
		"Insulin Syringe-Needle U-100",
		"BD INSULIN SYR 0.5ML",
		"insulin pen needles 31G",
		"Insulin Pump Cartridge",
		"insulin infusion sets",
		"insulin-like growth factor",
		"Metformin",
	])("is not %s", (name) => expect(marks(name)).toEqual([]));

	test("is recognised by ATC group and RxNorm ingredient, among drugs only", () => {
		expect(marks("", { system: "ATC", code: "A10AE04" })).toEqual(["insulin"]);
		expect(marks("insulin", { system: "ATC", code: "A10BA02" })).toEqual([]);
		expect(marks("", { system: "RxNorm", code: "274783" })).toEqual(["insulin"]);
		expect(marks("INSULIN", { kind: "other" })).toEqual([]);
	});
});

test("diabetes and heart failure are PheCodes 250 and 428 at any level", () => {
	const code = { system: "ICD9CM", code: "250.70", kind: "diagnosis", name: null };
	expect(marksOf(code, ["250.2", "443.7"])).toEqual(["diabetes"]);
	expect(marksOf({ ...code, system: "PheCode", code: "428.1" }, [])).toEqual(["heart-failure"]);
});
