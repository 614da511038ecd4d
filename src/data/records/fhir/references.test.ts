import { expect, test } from "vitest";
import { keysOf, parseReference, referenceIn } from "./data-types.js";

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
