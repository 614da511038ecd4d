import fc from "fast-check";
import { expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { parseMoment } from "../dates.js";
import { chooseCodings, keysOf, momentIn, parseReference, referenceIn } from "./data-types.js";

test("relative, absolute and versioned addresses of a resource have the same key", () => {
	const patient = { key: "Patient/12", id: "12", type: "Patient" };
	for (const text of [
		"Patient/12",
		" Patient/12/_history/3",
		"https://example.org/fhir/Patient/12",
		"http://example.org/Patient/12/_history/1",
	])
		expect(parseReference(text)).toEqual(patient);
	expect(referenceIn({ reference: "Patient/12", display: "x" })).toEqual(patient);
});

test("a URN is its own key", () => {
	expect(parseReference("urn:uuid:a-b")).toEqual({ key: "urn:uuid:a-b", id: "a-b" });
	expect(parseReference("urn:oid:1.2")).toEqual({ key: "urn:oid:1.2", id: "1.2" });
	expect(parseReference("12")).toEqual({ key: "12", id: "12" });
});

test("searches, contained resources and other addresses have no key", () => {
	for (const text of ["Patient?identifier=http://a/Patient/1", "#p", "", "a b", "a/b", "/"])
		expect(parseReference(text)).toBeUndefined();
	for (const value of [undefined, null, "Patient/12", {}, { reference: 12 }, []])
		expect(referenceIn(value)).toBeUndefined();
});

test("a resource has the keys of its id and of its entry's address", () => {
	expect(keysOf("Encounter", "9", undefined)).toEqual(["Encounter/9"]);
	expect(keysOf("Encounter", "9", "http://a/Encounter/9")).toEqual(["Encounter/9"]);
	expect(keysOf("Encounter", "9", "urn:uuid:x")).toEqual(["Encounter/9", "urn:uuid:x"]);
	expect(keysOf("Encounter", undefined, "urn:uuid:x")).toEqual(["urn:uuid:x"]);
	expect(keysOf("Encounter", undefined, undefined)).toEqual([]);
});

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

test("reads dates with a precision of a year, a month or a day", () => {
	expect(parseMoment("1970")).toEqual({ day: 0, slack: 365 });
	expect(parseMoment("1972")).toEqual({ day: 730, slack: 366 });
	expect(parseMoment("1972-02")).toEqual({ day: 761, slack: 29 });
	expect(parseMoment("1970-12")).toEqual({ day: 334, slack: 31 });
	expect(parseMoment("1972-02-29")).toEqual({ day: 789, slack: 0 });
	expect(parseMoment("1969-12-31")).toEqual({ day: -1, slack: 0 });
	expect(parseMoment("2187-03-04")?.day).toBe(Date.parse("2187-03-04") / 864e5);
});

test("converts times to UTC, and adds the offset of an eastern zone to the precision", () => {
	expect(parseMoment("1970-01-02T12:00:00Z")).toEqual({ day: 1.5, slack: 0 });
	expect(parseMoment("1970-01-02T12:00:00.5+06:00")).toEqual({
		day: 1.25 + 0.5 / 86400,
		slack: 0.25,
	});
	expect(parseMoment("1970-01-02T12:00:00-06:00")).toEqual({ day: 1.75, slack: 0 });
	expect(parseMoment(" 1970-01-02 12:00 ")).toEqual({ day: 1.5, slack: 0 });
});

test("rejects texts that are not dates", () => {
	const texts =
		"2020-13 2020-00 2020-02-30 2020-01-00 0000 0020-01-01 1799-12-31 2301-01-01 20 20200101 01/02/2020 2020-01-01T24:00:00Z 2020-01-01T10:60:00Z 2020-01-01T10:00:00+15:00 2020-01-01T10:00:00+05:75 soon";
	for (const text of ["", ...texts.split(" ")]) expect(parseMoment(text)).toBeUndefined();
});

test("agrees with Date on any moment", () => {
	fc.assert(
		fc.property(
			fc.date({ min: new Date("1800-01-01"), max: new Date("2300-12-31"), noInvalidDate: true }),
			(date) => {
				expect(parseMoment(date.toISOString())?.day).toBeCloseTo(date.getTime() / 864e5, 6);
			},
		),
	);
});

test("reports an invalid date, and accepts a missing one", () => {
	expect(momentIn({}, "authoredOn", "x")).toBeUndefined();
	expect(momentIn(undefined, "start", "x")).toBeUndefined();
	expect(() => momentIn({ authoredOn: "2020-13-01" }, "authoredOn", "x.json: entry 3")).toThrow(
		new InputError(
			'x.json: entry 3: authoredOn is "2020-13-01"; expected a date such as 2020, 2020-05, 2020-05-17 or 2020-05-17T10:30:00Z; expected a year between 1800 and 2300: correct it or leave the resource out',
		),
	);
	expect(() => momentIn({ a: 2020 }, "a", "x")).toThrow("a is a number; expected a date");
	expect(() => momentIn({ a: "9".repeat(1e6) }, "a", "x")).toThrow("a text of 1000000 characters");
});
