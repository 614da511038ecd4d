import { expect, test } from "vitest";
import { impliedSystem, systemNamed } from "./systems.js";

test.each([
	["urn:oid:2.16.840.1.113883.6.96", "SNOMED"],
	["urn:oid:2.16.840.1.113883.6.88", "RxNorm"],
	["urn:oid:2.16.840.1.113883.6.103", "ICD9CM"],
	["urn:oid:2.16.840.1.113883.6.90", "ICD10CM"],
	[" HTTP://SNOMED.info/sct/ ", "SNOMED"],
	["ICD-9-CM", "ICD9CM"],
])("%s is %s", (name, system) => {
	expect(systemNamed(name)).toBe(system);
});

test("unknown names have no system", () => {
	expect(systemNamed("urn:oid:2.16.840.1.113883.6.1234")).toBe(undefined);
});

test.each([
	["icd9_code", "ICD9CM"],
	["ICD9_DGNS_CD_10", "ICD9CM"],
	["ADMTNG_ICD9_DGNS_CD", "ICD9CM"],
	["icd10_dx_1", "ICD10CM"],
	["ICD9_PRCDR_CD_6", "ICD9Proc"],
	["HCPCS_CD_45", "HCPCS"],
	["icd_10", "ICD10CM"],
	["name_1", undefined],
	["dx_9", undefined],
])("a column %s holds codes of %s", (column, system) => {
	expect(impliedSystem(column)).toBe(system);
});
