import fc from "fast-check";
import { expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { parseMoment } from "../dates.js";
import { chooseCodings, keysOf, momentIn, parseReference, referenceIn } from "./data-types.js";

test.each([
	["Patient/12", "Patient/12 12 Patient"],
	[" Patient/12/_history/3", "Patient/12 12 Patient"],
	["https://example.org/fhir/Patient/12", "Patient/12 12 Patient"],
	["http://example.org/Patient/12/_history/1", "Patient/12 12 Patient"],
	["urn:uuid:a-b", "urn:uuid:a-b a-b undefined"],
	["urn:oid:1.2", "urn:oid:1.2 1.2 undefined"],
	["12", "12 12 undefined"],
])("the key, id and type of %j are %s", (text, expected) => {
	const { key, id, type } = parseReference(text) ?? {};
	expect(`${key} ${id} ${type}`).toBe(expected);
	expect(referenceIn({ reference: text, display: "x" })).toEqual(parseReference(text));
});

test("searches, contained resources and other addresses have no key", () => {
	for (const text of ["Patient?identifier=http://a/Patient/1", "#p", "", "a b", "a/b", "/"])
		expect(parseReference(text)).toBeUndefined();
	for (const value of [undefined, null, "Patient/12", {}, { reference: 12 }, []])
		expect(referenceIn(value)).toBeUndefined();
});

test.each([
	["9", undefined, "Encounter/9"],
	["9", "http://a/Encounter/9", "Encounter/9"],
	["9", "urn:uuid:x", "Encounter/9 urn:uuid:x"],
	[undefined, "urn:uuid:x", "urn:uuid:x"],
	[undefined, undefined, ""],
])("a resource of id %s and address %s has the keys %j", (id, url, keys) => {
	expect(keysOf("Encounter", id, url).join(" ")).toBe(keys);
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
			["http://snomed.info/sct", "1"],
			["http://hl7.org/fhir/sid/ndc", "2"],
			["http://www.whocc.no/atc", "3"],
			["http://www.nlm.nih.gov/research/umls/rxnorm", "4"],
		].map(([system, code]) => ({ system, code })),
	};
	for (const expected of ["RxNorm 4", "ATC 3", "NDC 2"]) {
		const { kept } = choose(drug, "drug");
		expect(kept.map(({ code, system }) => `${system} ${code}`)).toEqual([expected]);
		drug.coding.pop();
	}
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
