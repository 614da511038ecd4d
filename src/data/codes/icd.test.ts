import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type IcdSystem, icdAndAncestors, normaliseIcd } from "./map.js";

describe("normaliseIcd", () => {
	const pairs = (text: string) =>
		text.split(", ").map((pair) => pair.split("=") as [string, string]);
	test.each(
		pairs(
			"4280=428.0, 428=428, 428.=428,  401.9 =401.9, 25000=250.00, 0088=008.8, V5867=V58.67, v58.67=V58.67, V27=V27, E8889=E888.9, e888=E888",
		),
	)("ICD-9: %j is %s", (text, code) => expect(normaliseIcd("ICD9CM", text)).toBe(code));

	test.each(
		pairs(
			"i509=I50.9, I50=I50, S72001A=S72.001A, s22.32xa=S22.32XA, C7A.8=C7A.8, E119=E11.9, E11.90+=E11.90, G63.2*=G63.2, I10.90 †=I10.90, U07.1!=U07.1",
		),
	)("ICD-10: %j is %s", (text, code) => expect(normaliseIcd("ICD10CM", text)).toBe(code));

	// 8.45 may be 008.45 after a spreadsheet; that is not for us to say.
	test.each<[IcdSystem, string]>([
		["ICD9CM", "8.45|84|428.000|4.280|E88.89|E888.99|V5|I50.9||NoDx"],
		["ICD10CM", "428.0|I5|I50.12345|A00-A09|I 50.9"],
	])("%s has no code of %s", (system, texts) => {
		for (const text of texts.split("|")) expect(normaliseIcd(system, text), text).toBeUndefined();
	});

	test("is idempotent, and ignores case, blanks and the dot, for any text", () => {
		const code = fc.stringMatching(/^[A-Z0-9]{3,5}\.?[A-Z0-9]{0,4}$/);
		const system = fc.constantFrom<IcdSystem>("ICD9CM", "ICD10CM");
		fc.assert(
			fc.property(system, fc.oneof(fc.string({ unit: "binary" }), code), (which, text) => {
				const normal = normaliseIcd(which, text);
				if (normal === undefined) return;
				expect(normaliseIcd(which, normal)).toBe(normal);
				expect(normaliseIcd(which, ` ${normal.toLowerCase()}\t`)).toBe(normal);
				expect(normaliseIcd(which, normal.replace(".", ""))).toBe(normal);
			}),
			{ numRuns: 300 },
		);
	});
});

test("icdAndAncestors goes up to the category", () => {
	expect([...icdAndAncestors("250.02")]).toEqual(["250.02", "250.0", "250"]);
	expect([...icdAndAncestors("E888.9")]).toEqual(["E888.9", "E888"]);
	expect([...icdAndAncestors("I10")]).toEqual(["I10"]);
});
