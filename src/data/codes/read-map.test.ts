import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { normalisePheCode } from "./map.js";
import { type PheCodeMapOptions, readPheCodeMap } from "./read-map.js";
import { hasRealFiles, mimic3Diagnoses, realFiles } from "./testing/mimic.js";

const packageMap = `vocabulary_id,code,phecode
ICD9CM,428.0,428.1
ICD9CM,250.00,250.2
ICD9CM,V58.67,250.3
ICD9CM,401.9,401.1
ICD9CM,008.45,008.52
ICD10CM,E08-E13,250
ICD10CM,S72.00xA,800.1
ICD10CM,E11.52,250.24
ICD10CM,E11.52,250.2
ICD10CM,E11.52,791
ICD10CM,Z99,
`;

const catalogue = `"ICD9","ICD9 String","PheCode","Phenotype","Excl. Phecodes","Excl. Phenotypes","Rollup","Leaf","Ignore Bool"
"250.00","Diabetes, type ""II""","250.2","Type 2 diabetes","249-250.99","DIABETES",1,1,0
"564.00","Constipation NOS","563","Constipation","560-579","",1,1,1

"008.45","C. difficile","8.52","Intestinal infection due to C. difficile","001-009.99","",1,1,0
`;

async function mapOf(text: string | Uint8Array, options?: PheCodeMapOptions, pheinfo?: string) {
	const folder = await temporaryFolder();
	const file = join(folder, "map.csv");
	await writeFile(file, text);
	if (pheinfo !== undefined) await writeFile(join(folder, "pheinfo.csv"), pheinfo);
	return readPheCodeMap(file, options);
}

describe("readPheCodeMap", () => {
	test("maps SNOMED CT concepts, and leaves ICD codes to the built-in map if it has none", async () => {
		const own = await mapOf(
			"SNOMED,PheCode,Phenotype\n44054006,250.2,Type 2 diabetes\n59621000,401.1,\n",
		);
		expect(own.phecodesOfSnomed?.("44054006")).toEqual(["250"]);
		expect(own.phecodesOfSnomed?.("1234567")).toEqual([]);
		expect(own.phecodesOf("ICD10CM", "I10")).toEqual(["401"]);
		expect(own.nameOf("250.2")?.name).toBe("Type 2 diabetes");
		const both = await mapOf(`${packageMap}SNOMEDCT_US,44054006,250.2\n`, { level: "full" });
		expect(both.phecodesOfSnomed?.("44054006")).toEqual(["250.2"]);
		expect(both.phecodesOf("ICD10CM", "I10")).toEqual([]);
		expect((await mapOf(packageMap)).phecodesOfSnomed).toBe(undefined);
		await expect(mapOf("snomed,phecode\nE11,250\n")).rejects.toThrow(
			'line 2 has code "E11"; expected a SNOMED CT concept of 6 to 18 digits',
		);
	});

	test("reads the package's map, at both levels", async () => {
		const full = await mapOf(packageMap, { level: "full" });
		const integer = await mapOf(gzipSync(packageMap));
		const both = (system: "ICD9CM" | "ICD10CM", code: string) => [
			full.phecodesOf(system, code),
			integer.phecodesOf(system, code),
		];
		expect(both("ICD9CM", "428.0")).toEqual([["428.1"], ["428"]]);
		expect(both("ICD9CM", "25000")).toEqual([["250.2"], ["250"]]);
		expect(both("ICD9CM", "v5867")).toEqual([["250.3"], ["250"]]);
		expect(both("ICD9CM", "4019")).toEqual([["401.1"], ["401"]]);
		expect(both("ICD9CM", "00845")).toEqual([["008.52"], ["008"]]);
		expect(both("ICD10CM", "E11.52")).toEqual([
			["250.24", "250.2", "791"],
			["250", "791"],
		]);
		expect(both("ICD10CM", "S7200XA")).toEqual([["800.1"], ["800"]]);
		expect(both("ICD10CM", "Z99")).toEqual([[], []]);
		expect(both("ICD9CM", "8.45")).toEqual([[], []]);
		expect([full.level, integer.level]).toEqual(["full", "integer"]);
		expect(full.source).toMatch(/map\.csv$/);
	});

	test("gives no PheCode to codes that are not in the file", async () => {
		const map = await mapOf(packageMap);
		expect(map.phecodesOf("ICD9CM", "410.71")).toEqual([]);
		expect(map.phecodesOf("ICD9CM", "428.00")).toEqual([]);
		const prefix = await mapOf(packageMap, { match: "prefix" });
		expect(prefix.phecodesOf("ICD9CM", "428.00")).toEqual(["428"]);
		expect(prefix.phecodesOf("ICD9CM", "428")).toEqual([]);
	});

	test("reads the catalogue, and its ignored codes on request", async () => {
		const map = await mapOf(catalogue, { level: "full" });
		expect(map.phecodesOf("ICD9CM", "25000")).toEqual(["250.2"]);
		expect(map.phecodesOf("ICD9CM", "00845")).toEqual(["008.52"]);
		expect(map.phecodesOf("ICD9CM", "56400")).toEqual([]);
		expect(map.nameOf("250.2")?.name).toBe("Type 2 diabetes");
		const kept = await mapOf(catalogue, { ignore: "keep" });
		expect(kept.phecodesOf("ICD9CM", "56400")).toEqual(["563"]);
		const icd10 = await mapOf("ICD10,ICD10 String,PheCode,Phenotype\nI50.9,x,428.1,CHF\n");
		expect(icd10.phecodesOf("ICD10CM", "I509")).toEqual(["428"]);
	});

	test("takes names from the file, then from pheinfo.csv, then the built-in ones", async () => {
		const pheinfo = `phecode,description,groupnum,group,color
250.2,From pheinfo,3,endocrine,blue
8.52,"C. difficile, intestinal",1,infections,blue
428.1,Congestive heart failure (CHF) NOS,8,,red
`;
		const map = await mapOf(catalogue, { level: "full" }, pheinfo);
		expect(map.nameOf("250.2")).toEqual({
			code: "250.2",
			name: "Type 2 diabetes",
			category: "endocrine",
		});
		expect(map.nameOf("428.1")).toEqual({
			code: "428.1",
			name: "Congestive heart failure (CHF) NOS",
			category: "circulatory system",
		});
		expect(map.nameOf("401.1")).toEqual({
			code: "401.1",
			name: "Hypertension",
			category: "circulatory system",
		});
		expect(map.nameOf("9999")).toBeUndefined();
	});

	test.each([
		["", "maps no code"],
		["vocabulary_id,code,phecode\n", "maps no code"],
		["code,phecode\n428.0,428\n", "line 1 has the columns code, phecode; expected vocabulary_id"],
		["vocabulary_id,code\n", "line 1 has the columns vocabulary_id, code"],
		["ICD9,PheCode\n428.0\n", "line 2 has 1 fields"],
		["ICD9,PheCode\n1.0,008\n", 'line 2 has code "1.0"; expected an ICD-9 code'],
		["ICD9,PheCode\n428.0,42x\n", 'line 2 has PheCode "42x"; expected a number'],
		["vocabulary_id,code,phecode\nMeSH,1,2\n", 'line 2 has vocabulary "MeSH"'],
		['ICD9,PheCode\n"428.0,428\n', "line 2: a quote is opened"],
	])("refuses %j", async (text, message) => {
		await expect(mapOf(text)).rejects.toThrow(message);
		await expect(mapOf(text)).rejects.toThrow(InputError);
	});

	test.each([
		["phecode,name\n1,a\n", "line 1 has the columns phecode, name; expected phecode, descr"],
		["phecode,description,group\nx,a,b\n", 'line 2 has PheCode "x"'],
		["phecode,description,group\n250,,b\n", "line 2 has no description"],
		["phecode,description,group\n", "names no PheCode"],
	])("refuses a pheinfo.csv of %j", async (pheinfo, message) => {
		await expect(mapOf(packageMap, {}, pheinfo)).rejects.toThrow(message);
		await expect(mapOf(packageMap, {}, pheinfo)).rejects.toThrow(InputError);
	});

	test("returns a map or an InputError for any text", async () => {
		const sample = fc.constantFrom(packageMap, catalogue);
		const mutated = fc
			.tuple(sample, fc.nat(), fc.nat(20), fc.string({ unit: "binary", maxLength: 5 }))
			.map(([text, at, cut, more]) => {
				const place = at % text.length;
				return text.slice(0, place) + more + text.slice(place + cut);
			});
		const random = fc
			.string({ unit: fc.constantFrom("4", "2", ".", ",", '"', "\n", "V", "x", " ") })
			.map((body) => `vocabulary_id,code,phecode\n${body}`);
		const folder = await temporaryFolder();
		const file = join(folder, "map.csv");
		await fc.assert(
			fc.asyncProperty(fc.oneof(mutated, random), async (text) => {
				await writeFile(file, text);
				try {
					const map = await readPheCodeMap(file, { level: "full" });
					for (const phecode of map.phecodesOf("ICD9CM", "428.0"))
						expect(normalisePheCode(phecode)).toBe(phecode);
				} catch (error) {
					expect(error).toBeInstanceOf(InputError);
				}
			}),
			{ numRuns: 200 },
		);
	});
});

test.each([
	["250", "250"],
	["250.20", "250.2"],
	["250.0", "250"],
	["8.52", "008.52"],
	["1010", "1010"],
	["250.123", undefined],
	["12345", undefined],
	["", undefined],
	["a", undefined],
])("normalisePheCode(%j) is %s", (text, code) => expect(normalisePheCode(text)).toBe(code));

describe.skipIf(!hasRealFiles)("the official files", () => {
	test.each([realFiles.map, realFiles.catalogue])("map the MIMIC-III demo: %s", async (file) => {
		const map = await readPheCodeMap(file);
		const found = mimic3Diagnoses().map(([system, code]) => map.phecodesOf(system, code));
		const mapped = found.filter((phecodes) => phecodes.length > 0);
		expect([mapped.length, found.length]).toEqual([1673, 1761]);
		expect(new Set(mapped.flat()).size).toBe(219);
	});

	test("have the codes we know at full level", async () => {
		const map = await readPheCodeMap(realFiles.map, { level: "full" });
		expect(map.phecodesOf("ICD9CM", "4280")).toEqual(["428.1"]);
		expect(map.phecodesOf("ICD9CM", "25000")).toEqual(["250.2"]);
		expect(map.phecodesOf("ICD9CM", "V5867")).toEqual(["250.3"]);
		expect(map.phecodesOf("ICD9CM", "4019")).toEqual(["401.1"]);
		expect(map.nameOf("401.1")).toEqual({
			code: "401.1",
			name: "Essential hypertension",
			category: "circulatory system",
		});
	});
});
