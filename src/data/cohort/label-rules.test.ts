import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { marksOf } from "./label-rules.js";
import { splitNames } from "./manifest.js";
import { splitOf } from "./people.js";
import { definitionBeside, taskMarker } from "./user-labels.js";

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

test("a definition that is not JSON is passed over, one that holds a key twice is refused", async () => {
	const folder = await temporaryFolder();
	const file = join(folder, taskMarker);
	await writeFile(file, "{");
	expect((await definitionBeside(folder, "stroke")).what).toContain("task stroke");
	await writeFile(file, '{ "definition": {}, "definition": {} }');
	await expect(definitionBeside(folder, "stroke")).rejects.toThrow(
		`${file} holds the key "definition" twice in one object`,
	);
});

const ids = Array.from({ length: 20_000 }, (_, i) => `patient-${i}`);

/** The shares of training, validation and test are those, to within `most`. */
function expectParts(splits: readonly string[], shares: readonly number[], most = 0.01) {
	for (const [at, name] of splitNames.entries()) {
		const share = splits.filter((split) => split === name).length / splits.length;
		expect(Math.abs(share - shares[at])).toBeLessThan(most);
	}
}

test("assigns 80, 10 and 10 % of the patients", () => {
	expectParts(
		ids.map((id) => splitOf(id, 0)),
		[0.8, 0.1, 0.1],
	);
});

test("depends on the seed", () => {
	const validThen = ids.filter((id) => splitOf(id, 0) === "valid");
	const splits = validThen.map((id) => splitOf(id, 1));
	expectParts(splits, [0.8, 0.1, 0.1], 0.03); // another seed knows nothing of this one
});

test("takes other percentages, and a larger training part contains the smaller one", () => {
	const half = ids.map((id) => splitOf(id, 0, [50, 10, 40]));
	expectParts(half, [0.5, 0.1, 0.4]);
	for (const [at, id] of ids.entries())
		if (half[at] === "train") expect(splitOf(id, 0)).toBe("train");
});
