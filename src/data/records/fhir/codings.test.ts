import { expect, test } from "vitest";
import { chooseCodings } from "./data-types.js";

const icd10 = { system: "http://hl7.org/fhir/sid/icd-10-cm", code: "E11.9", display: "ten" };
const icd9 = { system: "http://hl7.org/fhir/sid/icd-9-cm", code: "250.00" };
const snomed = { system: "http://snomed.info/sct", code: "44054006" };
const local = { system: "http://hospital.example/codes", code: "D1" };

test("chooses the best known system, at any position", () => {
	const choose = chooseCodings({});
	const concept = { coding: [local, snomed, icd9, icd10], text: "diabetes" };
	expect(choose(concept, "diagnosis")).toEqual({
		kept: [{ code: "E11.9", system: "ICD10CM", name: "ten" }],
		unknown: ["http://hospital.example/codes"],
		passedOver: 2,
	});
	expect(choose({ coding: [snomed, icd9], text: "diabetes" }, "diagnosis").kept).toEqual([
		{ code: "250.00", system: "ICD9CM", name: "diabetes" },
	]);
	const drug = {
		coding: [
			{ system: "http://snomed.info/sct", code: "1" },
			{ system: "http://hl7.org/fhir/sid/ndc", code: "2" },
			{ system: "http://www.whocc.no/atc", code: "3" },
			{ system: "http://www.nlm.nih.gov/research/umls/rxnorm", code: "4" },
		],
	};
	const taken = () => choose(drug, "drug").kept.map(({ code, system }) => `${system} ${code}`);
	expect(taken()).toEqual(["RxNorm 4"]);
	drug.coding.pop();
	expect(taken()).toEqual(["ATC 3"]);
	drug.coding.pop();
	expect(taken()).toEqual(["NDC 2"]);
});

test("keeps all codings on request, each once", () => {
	const choose = chooseCodings({ allCodings: true });
	const { kept, passedOver } = choose({ coding: [snomed, icd10, icd10, icd9] }, "diagnosis");
	expect(kept.map(({ code }) => code)).toEqual(["44054006", "E11.9", "250.00"]);
	expect(passedOver).toBe(0);
});

test("accepts an allowed system under its own name, after the known ones", () => {
	const choose = chooseCodings({ allowSystems: ["HTTP://hospital.example/codes"] });
	expect(choose({ coding: [local] }, "diagnosis").kept).toEqual([
		{ code: "D1", system: "HTTP://hospital.example/codes", name: null },
	]);
	expect(choose({ coding: [local, snomed] }, "diagnosis").kept[0]?.system).toBe("SNOMED");
	const loinc = { system: "http://loinc.org", code: "1-8" };
	expect(choose({ coding: [local, loinc] }, "diagnosis").kept[0]?.system).toBe("LOINC");
});

test("ignores codings without a code or a system", () => {
	const choose = chooseCodings({});
	const nothing = { kept: [], unknown: [], passedOver: 0 };
	for (const concept of [
		undefined,
		null,
		"E11",
		[],
		{ text: "diabetes" },
		{ coding: "E11" },
		{ coding: [null, 3, {}, { code: "E11" }, { system: icd10.system }, { ...icd10, code: " " }] },
		{ coding: [{ ...icd10, code: 250 }] },
	])
		expect(choose(concept, "diagnosis")).toEqual(nothing);
});
