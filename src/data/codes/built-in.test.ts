import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { builtInMap, compileRules, expandRule, pheCodes } from "./built-in.js";
import { type CodeMap, type IcdSystem, normaliseIcd } from "./map.js";
import catalogue from "./phecodes.json" with { type: "json" };
import { readPheCodeMap } from "./read-map.js";
import { hasRealFiles, mimic3Diagnoses, mimic4Diagnoses, realFiles } from "./testing/mimic.js";

const map = builtInMap();
const systems: readonly IcdSystem[] = ["ICD9CM", "ICD10CM"];
const { "without PheCode": _, ...chapters } = catalogue;
const rulesOf = Object.values(chapters)
	.flat()
	.map(({ code, icd9, icd10 }) => ({
		code,
		rules: { ICD9CM: icd9.split(" ").filter(Boolean), ICD10CM: icd10.split(" ").filter(Boolean) },
	}));

describe("the catalogue", () => {
	test("has 580 PheCodes, each once, in order, with names and 17 categories", () => {
		expect(pheCodes.length).toBe(580);
		const numbers = pheCodes.map(({ code }) => Number(code));
		expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
		expect(new Set(pheCodes.map(({ category }) => category)).size).toBe(17);
		for (const { code, name } of pheCodes) {
			expect(code).toMatch(/^\d{3,4}$/);
			expect(name).toMatch(/^[A-Z].*\w[\])]?$/);
		}
		expect(map.nameOf("250")).toEqual({
			code: "250",
			name: "Diabetes mellitus",
			category: "endocrine/metabolic",
		});
		expect(map.nameOf("008")?.name).toBe("Intestinal infection");
		expect(map.nameOf("8")).toBeUndefined();
	});

	test("keeps the rules of each chapter in order and gives no rule to two PheCodes", () => {
		for (const system of systems) {
			const owners = new Map<string, string>();
			for (const { code, rules } of rulesOf)
				for (const rule of rules[system].filter((text) => !text.startsWith("+")))
					for (const prefix of expandRule(rule)) {
						expect(`${prefix}: ${owners.get(prefix) ?? code}`).toBe(`${prefix}: ${code}`);
						owners.set(prefix, code);
					}
		}
		for (const rows of Object.values(chapters)) {
			const numbers = rows.map(({ code }) => Number(code));
			expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
		}
	});

	test("has rules that some code matches", () => {
		for (const system of systems)
			for (const { rules } of rulesOf)
				for (const rule of rules[system].flatMap((text) => expandRule(text.replace("+", "")))) {
					const code = rule.replaceAll("?", "0");
					expect(normaliseIcd(system, code)).toBe(code);
				}
	});
});

test.each([
	["250", ["250"]],
	["008-011", ["008", "009", "010", "011"]],
	["362.8-362.9", ["362.8", "362.9"]],
	["V10.00-V10.02", ["V10.00", "V10.01", "V10.02"]],
	["E09-E11", ["E09", "E10", "E11"]],
	["T36-T37.??2", ["T36.??2", "T37.??2"]],
	["S82.?1", ["S82.?1"]],
	["91?.1", ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"].map((digit) => `91${digit}.1`)],
])("expandRule(%s)", (rule, codes) => expect(expandRule(rule)).toEqual(codes));

test.each(["E11-D10", "428-427", "428-428", "A-B", "428-V30"])("expandRule refuses %s", (rule) => {
	expect(() => expandRule(rule)).toThrow("not a range of codes");
});

describe("compileRules", () => {
	const map = compileRules(
		[
			{ code: "1", icd9: "", icd10: "S72 S72.1" },
			{ code: "2", icd9: "", icd10: "S72.0" },
			{ code: "3", icd9: "", icd10: "S72.???K S72" },
			{ code: "4", icd9: "", icd10: "+S72.0?1 +Q90" },
		],
		"ICD10CM",
	);

	test.each([
		["S72", ["1", "3"]],
		["S72.9", ["1", "3"]],
		["S72.101A", ["1"]],
		["S72.009A", ["2"]],
		["S72.001A", ["2", "4"]],
		["S72.009K", ["3"]],
		["S72.001K", ["3", "4"]],
		["Q90.1", ["4"]],
		["S73", []],
	])("%s: %j", (code, phecodes) => expect(map(code)).toEqual(phecodes));
});

describe("builtInMap", () => {
	/** `428.0 428`: a code and its PheCodes. */
	const cases = (text: string) =>
		text.split(/ \| |\n/).map((one) => {
			const [code = "", ...phecodes] = one.split(" ");
			return [code, phecodes] as const;
		});
	// 564.00 is marked "ignore" in the catalogue.
	const icd9 = `428.0 428 | 4280 428 | 250.00 250 | V5867 250 | 401.9 401 | 410.71 411 | 427.31 427 | 585.6 585 | 493.90 495
296.20 296 | E8889 | 564.00 | 787.91 | 799.02 | 8.45`;
	// S72001K: nonunion. S62.001D: healing, as V54.12. S92.301S: late effect, as 905.4. T39.1X2A: on purpose; 5: adverse
	// effect; 6: underdosing.
	const icd10 = `I10 401 | i509 428 | E11.9 250 | E11.52 250 443 791 | A41.9 038 994 | S72.001A 800 | S72001K 733
S62.001A 804 | S62.001D 803 | S92.301S 800 | S32.311G 800 | S22.41XD 809 | S66.011S 842 | T40.7X1A 969
T39.1X2A 965 297 | T39.1X5A 965 979 | T39.1X6A | U07.1`;
	test.each([...cases(icd9)])("ICD9CM %s: %j", (code, phecodes) =>
		expect(map.phecodesOf("ICD9CM", code)).toEqual(phecodes),
	);
	test.each([...cases(icd10), ["", []] as const])("ICD10CM %s: %j", (code, phecodes) =>
		expect(map.phecodesOf("ICD10CM", code)).toEqual(phecodes),
	);

	test("gives a code the PheCodes of the known code above it", () => {
		expect(map.phecodesOf("ICD10CM", "I50.9XYZ")).toEqual(["428"]);
	});

	test("returns PheCodes of the catalogue for any text", () => {
		const code = fc.stringMatching(/^[A-Z0-9]\d[A-Z0-9]\.?[A-Z0-9]{0,4}$/);
		const system = fc.constantFrom(...systems);
		fc.assert(
			fc.property(system, fc.oneof(code, fc.string({ unit: "binary" })), (which, text) => {
				const phecodes = map.phecodesOf(which, text);
				expect(new Set(phecodes).size).toBe(phecodes.length);
				for (const phecode of phecodes) expect(map.nameOf(phecode)?.code).toBe(phecode);
			}),
			{ numRuns: 300 },
		);
	});
});

describe.skipIf(!hasRealFiles)("agrees with the official map", () => {
	const sameAs = (official: CodeMap) => (system: IcdSystem, code: string) =>
		[...map.phecodesOf(system, code)].sort().join() ===
		[...official.phecodesOf(system, code)].sort().join();
	const share = (codes: readonly [IcdSystem, string][], official: CodeMap) =>
		codes.filter(([system, code]) => sameAs(official)(system, code)).length / codes.length;

	let official: CodeMap;
	beforeAll(async () => {
		official = await readPheCodeMap(realFiles.map);
	});

	test("on the diagnosis records of both MIMIC demos", () => {
		expect(share(mimic3Diagnoses(), official)).toBeGreaterThan(0.99);
		expect(share(mimic4Diagnoses(), official)).toBeGreaterThan(0.99);
	});

	test("on the codes it lists, and has no other integer PheCode", () => {
		const listed = readFileSync(realFiles.map, "utf8").trim().split(/\r?\n/).slice(1);
		const codes = { ICD9CM: new Set<string>(), ICD10CM: new Set<string>() };
		const numbers = new Set<string>();
		for (const line of listed) {
			const [system, code = "", phecode = ""] = line.split(",") as [IcdSystem, string, string];
			if (code.includes("-")) continue;
			codes[system].add(code);
			numbers.add(phecode.split(".")[0] ?? "");
		}
		const pairs = (system: IcdSystem) =>
			[...codes[system]].map((code): [IcdSystem, string] => [system, code]);
		expect(share(pairs("ICD9CM"), official)).toBeGreaterThan(0.969);
		expect(share(pairs("ICD10CM"), official)).toBeGreaterThan(0.946);
		expect([...numbers].sort()).toEqual(pheCodes.map(({ code }) => code).sort());
	});
});
