import { expect, test } from "vitest";
import { systemNamed } from "./systems.js";

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
