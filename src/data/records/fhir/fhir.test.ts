import { existsSync } from "node:fs";
import { readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import type { FhirOptions } from "../options.js";
import { openStore } from "../store.js";
import {
	checkCase,
	folderOf,
	formatCases,
	refusal,
	refused,
	rowsOf,
} from "../testing/format-cases.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openFhir, readResources } from "./index.js";
import { noResource } from "./resource-parser.js";
import { type ReadOptions, readFhirInMemory, resourceReader } from "./resources-to-records.js";
import { StagedRows } from "./staged-rows.js";

type Json = Readonly<Record<string, unknown>>;

const icd10 = "http://hl7.org/fhir/sid/icd-10-cm";
const icd9 = "http://hl7.org/fhir/sid/icd-9-cm";
const snomed = "http://snomed.info/sct";
const rxnorm = "http://www.nlm.nih.gov/research/umls/rxnorm";

const concept = (code: string, system = icd10, display?: string) => ({
	coding: [{ system, code, ...(display ? { display } : {}) }],
});
const about = (patient: string) => ({ subject: { reference: patient } });
const at = (id: string) => ({ encounter: { reference: `Encounter/${id}` } });
const ofType =
	(resourceType: string, usual: Json = {}) =>
	(more: Json = {}): Json => ({ resourceType, ...usual, ...more });
const patient = (id: string, more: Json = {}) => ofType("Patient", { id })(more);
const condition = (code: string, more: Json = {}) =>
	ofType("Condition", {
		...about("Patient/1"),
		code: concept(code),
		onsetDateTime: "2020-01-01",
	})(more);
const untimed = (code: string, more: Json = {}) =>
	condition(code, { onsetDateTime: undefined, ...more });
const request = ofType("MedicationRequest", {
	status: "active",
	...about("Patient/1"),
	medicationCodeableConcept: concept("860975", rxnorm, "metformin"),
	authoredOn: "2020-01-02",
});
const statement = ofType("MedicationStatement", {
	status: "active",
	...about("Patient/1"),
	medicationCodeableConcept: concept("1191", rxnorm),
});
const encounter = (id: string, more: Json = {}) =>
	ofType("Encounter", {
		id,
		status: "finished",
		...about("Patient/1"),
		period: { start: "2020-03-01T12:00:00Z" },
	})(more);
const medication = (id: string, code?: Json) => ofType("Medication", { id, code })();
const by = (reference: string, more: Json = {}) =>
	request({
		medicationCodeableConcept: undefined,
		medicationReference: { reference },
		...more,
	});

const bundleOf = (...entry: Json[]) => ({ resourceType: "Bundle", type: "collection", entry });
const bundle = (...resources: Json[]) => bundleOf(...resources.map((resource) => ({ resource })));
const lines = (...resources: Json[]) => resources.map((one) => JSON.stringify(one)).join("\n");

const escapes = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\ufeff": "\\ufeff" };
/** A file as a cell of a case. */
const file = (content: Json | string, name = "a.json") => {
	const text = typeof content === "string" ? content : JSON.stringify(content);
	return `${name}: ${text.replace(/[\n\r\t\ufeff]/g, (one) => escapes[one as "\n"])}`;
};
/** A bundle of resources as a cell. */
const b = (...resources: Json[]) => file(bundle(...resources));

const three = [patient("1"), condition("E11"), request()] as const;
const short = "records(patient time code system)";
const alike = `${short}: 1 18262 E11 ICD10CM ; 1 18263 860975 RxNorm`;
const { resourceType, ...typeLast } = bundle(...three);
const local = "http://local.example/x";
const several = {
	coding: [
		{ system: local, code: "L1" },
		...concept("44054006", snomed).coding,
		...concept("E11").coding,
	],
};
const included = b(
	patient("1"),
	condition("", { code: several }),
	encounter("1", { reasonCode: [concept("R1", snomed, "a reason"), {}] }),
);
const drugs = b(
	by("Medication/a"),
	by("#m", { contained: [medication("m", concept("1191", rxnorm, "aspirin"))] }),
	by("#gone"),
	by("Medication/gone"),
	by("Medication/b"),
	by("http://a/fhir/Medication/a"),
	medication("a", concept("old", rxnorm)),
	medication("a", {
		coding: [
			...concept("N02", "http://www.whocc.no/atc").coding,
			...concept("161", rxnorm, "p").coding,
		],
	}),
	medication("b"),
	medication("c", concept("X", "http://local.example")),
);
const status = (code: string) => ({ verificationStatus: concept(code, "x") });
const oneKept =
	"1 resource had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all";
const nobody = "1 patient with records but without a Patient resource: birth and sex are unknown";

const readings = `
a bundle, in order | ${b(
	condition("E11.9", { code: { ...concept("E11.9"), text: "diabetes" } }),
	request(),
	patient("1", { gender: "female", birthDate: "1960-05-17", deceasedDateTime: "2021-01-01" }),
	condition("250.00", { code: concept("250.00", icd9, "DM"), onsetDateTime: "1999-01-01" }),
	condition("44054006", { code: concept("44054006", snomed), onsetDateTime: "1970" }),
)} | axis: dates | notes(all): | records: 1 18262 E11.9 ICD10CM diagnosis ; 1 18263 860975 RxNorm drug ; 1 10592 250.00 ICD9CM diagnosis ; 1 0 44054006 SNOMED diagnosis | people: 1 -3516 female 18628 | people(place): a.json: entry 3 | names: ICD10CM E11.9 diabetes ; RxNorm 860975 metformin ; ICD9CM 250.00 DM
one resource per line | ${file(lines(...three))} | ${alike}
a byte order mark, Windows line ends and empty lines | ${file(`\ufeff${lines(...three).replaceAll("\n", "\r\n\r\n")}\r\n`)} | ${alike}
gzip | ${file(lines(...three), "a.gz")} | ${alike}
indented JSON | ${file(JSON.stringify(bundle(...three), null, 2))} | ${alike}
nested bundles | ${b(bundle(...three), bundle())} | ${alike}
two bundles | ${file(lines(bundle(three[0], three[1]), bundle(three[2])))} | ${alike}
the type of a bundle at its end | ${file({ ...typeLast, resourceType })} | ${alike}
a single resource | ${file(JSON.stringify(condition("E11"), null, "\t"))} | ${short}: 1 18262 E11 ICD10CM
patients by id, by URN and by absolute address | ${file(
	bundleOf(
		{ resource: condition("A", about("urn:uuid:aa")) },
		{ fullUrl: "urn:uuid:aa", resource: patient("7", { birthDate: "1980" }) },
		{ fullUrl: "urn:uuid:bb", resource: { resourceType: "Patient" } },
		{ resource: condition("B", about("urn:uuid:bb")) },
		{ fullUrl: "http://a/fhir/Patient/9", resource: patient("9") },
		{ resource: condition("C", about("http://a/fhir/Patient/9/_history/2")) },
		{ resource: condition("D", about("Patient/7")) },
		{ resource: condition("E", about("Patient/nobody")) },
		{ resource: condition("F", about("Patient/aa")) },
		{ fullUrl: "http://a/fhir/Patient/8" },
	),
)} | records(patient code): 7 A ; bb B ; 9 C ; 7 D ; nobody E ; aa F | people(patient): 7 ; bb ; 9 | notes(all): 2 patients with records but without a Patient resource: birth and sex are unknown & 1 entry without a resource was skipped
the last version of a resource, in any file; without an id two resources are two | ${file(
	lines(
		patient("1", { birthDate: "1960-01-01", gender: "female" }),
		encounter("e", { period: { start: "2020-03-01" } }),
		condition("E11", { id: "a" }),
		condition("I10", { id: "b" }),
		untimed("I50", { id: "c", ...at("e") }),
		condition("J45"),
		request({ id: "a" }),
	),
	"1.ndjson",
)} | ${file(
	lines(
		condition("J45"),
		condition("E11.9", { id: "a" }),
		condition("I10", { id: "b", ...status("entered-in-error") }),
		encounter("e", { period: { start: "2020-03-05" } }),
		patient("1", { birthDate: "1961-01-01", gender: "female" }),
	),
	"2.ndjson",
)} | records(time code): ${Date.parse("2020-03-05") / 864e5} I50 ; 18262 J45 ; 18263 860975 ; 18262 J45 ; 18262 E11.9 | people(birth): ${Date.parse("1961-01-01") / 864e5} | notes: 4 resources came again later, under the same type and id: the last one read was kept & left out as entered in error, refuted, cancelled, not taken or not to be given: 1 Condition
people with missing fields; deaths at the end of the year or month | ${file(
	lines(
		patient("1", { birthDate: "1980", gender: "other" }),
		patient("2", { birthDate: "1980-05", gender: "male", deceasedDateTime: "1990" }),
		patient("3", { deceasedBoolean: true, deceasedDateTime: "1990-02" }),
		patient("4", { deceasedBoolean: true }),
		patient("5", { deceasedBoolean: false, gender: null }),
	),
)} | people(birth sex death): 3652 null null ; 3773 male 7669 ; null null 7363 ; null null null ; null null null | notes(all): 1 patient died on a day that is not given
times of a condition: onset, then recorded, then the encounter | ${b(
	untimed("A", { onsetPeriod: { start: "2020-01-05" }, recordedDate: "2021-01-01" }),
	untimed("B", { onsetAge: { value: 40, code: "a" }, recordedDate: "2021-01-01" }),
	untimed("C", { onsetAge: { value: 6, unit: "months" }, ...about("Patient/2") }),
	untimed("D", {
		onsetAge: { value: 6, unit: "months" },
		recordedDate: "2020-01-06",
		...about("Patient/2"),
	}),
	untimed("E", { onsetPeriod: {}, recordedDate: "2020-01-07" }),
	untimed("F", at("9")),
	untimed("G", { id: "g" }),
	untimed("H", { onsetString: "long ago" }),
	untimed("I", at("none")),
	untimed("J", {
		onsetAge: { value: 1, unit: "years" },
		encounter: { reference: "http://a/Encounter/9" },
		...about("Patient/2"),
	}),
	patient("1", { birthDate: "1980-01-01" }),
	encounter("9"),
	encounter("8", {
		period: { start: "2020-04-01" },
		diagnosis: [{ condition: { reference: "Condition/g" } }],
	}),
	encounter("7", { period: {}, diagnosis: [{ condition: { reference: "Condition/h" } }] }),
)} | records(time code): 18266 A ; ${3652 + 40 * 365.25} B ; 18267 D ; 18268 E ; 18322.5 F ; 18353 G ; 18322.5 J | notes(all): left out for want of a time: 3 diagnoses, 0 drugs & ${nobody}
times of a drug: written, taken, asserted, or the encounter's | ${b(
	encounter("9"),
	request({ authoredOn: undefined, ...at("9") }),
	statement({ effectiveDateTime: "2020-01-03", dateAsserted: "2021-01-01" }),
	statement({ effectivePeriod: { start: "2020-01-04" } }),
	statement({ effectivePeriod: { end: "2020-01-04" }, dateAsserted: "2020-01-05" }),
	statement({ context: { reference: "Encounter/9" } }),
	statement(),
)} | ${short}: 1 18322.5 860975 RxNorm ; 1 18264 1191 RxNorm ; 1 18265 1191 RxNorm ; 1 18266 1191 RxNorm ; 1 18322.5 1191 RxNorm
times of limited precision, or in an eastern zone, not before a birth within them | ${b(
	patient("1", { birthDate: "2020-05-17" }),
	condition("A", { onsetDateTime: "2020" }),
	condition("B", { onsetDateTime: "2020-05" }),
	condition("C", { onsetDateTime: "2020-05-17T01:00:00+09:00" }),
	condition("D", { onsetDateTime: "2020-06" }),
	condition("E", { onsetDateTime: "2019" }),
	condition("F", { onsetDateTime: "2020", ...about("Patient/2") }),
)} | records(time): 18399 ; 18399 ; 18399 ; 18414 ; 17897 ; 18262
drugs by a Medication, in the bundle or contained | ${drugs} | records(code system): 161 RxNorm ; 1191 RxNorm ; 161 RxNorm | names(code name): 161 p ; 1191 aspirin | notes(all): 1 resource came again later, under the same type and id: the last one read was kept & left out for want of a code with a system: 1 MedicationRequest & left out: 2 drugs whose Medication is in no file or has no code with a system & ${oneKept} & ${nobody}
all codings of a Medication | ${drugs} | {"allCodings": true} | records(code): N02 ; 161 ; 1191 ; N02 ; 161
counts of what is left out | ${b(
	patient("1"),
	condition("A", status("entered-in-error")),
	condition("B", status("refuted")),
	condition("C", status("confirmed")),
	request({ status: "cancelled" }),
	request({ status: "entered-in-error", authoredOn: "not a date" }),
	request({ status: "stopped" }),
	request({ doNotPerform: true }),
	statement({ status: "not-taken", effectiveDateTime: "2020-01-01" }),
	encounter("1", { status: "cancelled" }),
	condition("D", { code: { text: "in words only" } }),
	condition("E", about("Group/1")),
	{ resourceType: "Observation", valueQuantity: { value: 1 } },
	{ resourceType: "Observation" },
	{ resourceType: "Claim" },
)} | records(code): C ; 860975 | notes(all): resources of other types were skipped: 2 Observation, 1 Claim & left out as entered in error, refuted, cancelled, not taken or not to be given: 3 MedicationRequest, 2 Condition, 1 Encounter, 1 MedicationStatement & left out for want of a code with a system: 1 Condition & left out as not about a patient: 1 Condition
one coding, and no reasons of encounters | ${included} | records(code): E11 | notes(all): ${oneKept} & codings of unknown systems were left out beside known ones: 1 "${local}"; --allow-system keeps one
all codings, reasons of encounters and other systems | ${included} | ${JSON.stringify({ allCodings: true, encounterReasons: true, allowSystems: [local] })} | ${short}: 1 18262 L1 ${local} ; 1 18262 44054006 SNOMED ; 1 18262 E11 ICD10CM ; 1 18322.5 R1 SNOMED | notes(all): left out for want of a code with a system: 1 Encounter
`;

const refusals = `
an unknown system of a Medication | ${b(medication("c", concept("X", "http://local.example")), by("Medication/c"))} | refused: a.json: entry 1: the code of a Medication is of system "http://local.example", which is not known
nothing | a.json: | refused: a.json is empty; expected a FHIR Bundle
XML | ${file("<Bundle xmlns='http://hl7.org/fhir'/>")} | refused: looks like XML
JSON that is not FHIR | ${file({ a: 1 })} | refused(all): a.json: line 1 is not a FHIR resource: its resourceType is nothing; expected a Bundle, Patient, Condition or another resource
a type that is none | ${file({ resourceType: "a thing" })} | refused: resourceType is "a thing"
a number for a type | ${file({ resourceType: 3 })} | refused: resourceType is a number
an entry without a type | ${b(patient("1"), {})} | refused: a.json: entry 2 is not a FHIR resource
entries of something else | ${file({ entry: [{ resource: patient("1") }], resourceType: "List" })} | refused: has resources in entries, but its resourceType is List; expected a Bundle
no record | ${file({ resourceType: "Observation", entry: [{ item: {} }] })} | refused(all): a.json has no Patient and no usable record; expected Patient, Condition, MedicationRequest or MedicationStatement resources; resources of other types were skipped: 1 Observation
no resource | ${b()} | refused: found no resource at all
a line that is not JSON | ${file(`${lines(patient("1"))}\n{"resourceType": oops}`)} | refused(all): a.json: line 2 is not JSON; correct it or export the file again
an entry that is not JSON | ${file('{"resourceType":"Bundle","entry":[{},\n{"a" 1}]}')} | refused(all): a.json: entry 2 (line 2) is not JSON; correct it or export the file again
a repeated key | ${file('{"resourceType":"Patient","id":"1","id":"2"}')} | refused(all): a.json: line 1 holds the key "id" twice in one object, and only one could be read; leave one out
a file that ends early | ${file(JSON.stringify(bundle(patient("1"), condition("A"))).slice(0, -20))} | refused(all): a.json: entry 2 (line 1) cannot be read: the file ends inside it; copy the file again
a birth in month 13 | ${b(patient("1", { birthDate: "1980-13" }))} | refused: a.json: entry 1: birthDate is "1980-13"; expected a date such as
another form of dates | ${b(condition("A", { onsetDateTime: "05/17/2020" }))} | refused: entry 1: onsetDateTime is "05/17/2020"
a word for the start of a period | ${b(encounter("1", { period: { start: "x" } }))} | refused: entry 1: period: start is "x"
an age in moons | ${b(untimed("A", { onsetAge: { value: 3, unit: "moons" } }))} | refused: entry 1: onsetAge is 3 of unit "moons"; expected an age in years (a)
a patient without an id | ${b(patient(""))} | refused: entry 1: a Patient has no id
another gender | ${b(patient("1", { gender: "x" }))} | refused: gender is "x"; expected female
no subject | ${b(condition("A", { subject: undefined }))} | refused: entry 1: a Condition does not say whose it is: its subject is absent
a search for a subject | ${b(condition("A", about("Patient?identifier=a|1")))} | refused: is a contained resource or a search
a contained subject | ${b(condition("A", about("#p")))} | refused: is a contained resource
an unknown system | ${b(patient("1"), condition("A", { code: concept("A", "urn:oid:1.2.3") }))} | refused: a.json: entry 2: the code of a Condition is of system "urn:oid:1.2.3", which is not known; known are ICD9CM, & ; to keep its codes under this name, pass ${"`allowSystems`"} "urn:oid:1.2.3"
deep brackets | ${file(`{"resourceType":"Patient","a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`)} | refused: brackets in it are 1000 deep
`;

const check = (_: string, cells: readonly string[]) => checkCase(cells, openFhir);
test.each(formatCases(readings))("reads %s", check);
test.each(formatCases(refusals))("refuses %s", check);

test("bytes that are not UTF-8, and a text without an end, are rejected", async () => {
	const read = async (content: Uint8Array) =>
		load(await openFhir(join(await folderOf({ "x.json": content }), "x.json")));
	await refused(
		read(Buffer.from('{"resourceType":"Patient","id":"\xff"}', "latin1")),
		"x.json: line 1 is not UTF-8; convert the file to UTF-8",
	);
	const long = Buffer.alloc(80 << 20, "a");
	long.write('{"resourceType":"Bundle","entry":[{"a":"');
	await refused(
		read(gzipSync(long, { level: 1 })),
		"entry 1 (line 1) cannot be read: it is longer than 67108864 bytes; split it",
	);
});

test("no table is left in the store but those of the reader", async () => {
	const folder = await folderOf({ "a.json": JSON.stringify(bundle(...three)) });
	const store = await openStore({ folder, memory: 2 ** 28, threads: 1 });
	const before = await store.all("SHOW TABLES");
	await (await openFhir(join(folder, "a.json"))).load(store);
	expect(await store.all("SHOW TABLES")).toEqual(before);
	store.close();
});

describe("in memory", () => {
	const readAs = async (content: Json, options: FhirOptions) => {
		const folder = await folderOf({ "x.json": JSON.stringify(content) });
		return load(await openFhir(join(folder, "x.json"), options));
	};
	const inMemory = (content: Json, options: ReadOptions = {}) =>
		readFhirInMemory("x.json", Buffer.from(JSON.stringify(content)), options);

	test("can leave out records without a subject or a known system instead of rejecting them", () => {
		const content = bundle(
			condition("A"),
			condition("B", { subject: undefined }),
			condition("C", { code: concept("C", "urn:oid:1.2.3") }),
			{ resourceType: "Medication", id: "9", code: concept("9", "urn:oid:1.2.3") },
			request({ medicationReference: { reference: "Medication/9" } }),
		);
		const { records, skipped, unresolved } = inMemory(content, { unusable: "leave out" });
		expect(records.map(({ code }) => code)).toEqual(["A"]);
		expect(`${skipped.aboutOthers}, ${skipped.uncoded}`).toBe("1 Condition, 1 Condition");
		expect(unresolved.drugsWithoutCode).toBe(1);
		expect(() => inMemory(content)).toThrow("a Condition does not say whose it is");
	});

	test("yields the same records and people as the store, for any resources", async () => {
		const id = fc.constantFrom("1", "2", "3");
		const day = fc.constantFrom("1980", "2019-05", "2019-05-17", "2020-01-31T23:30:00+05:00");
		const reference = (...types: string[]) =>
			fc.tuple(fc.constantFrom(...types), id).map(([type, one]) => ({
				reference: type === "urn" ? `urn:uuid:${one}` : `${type}/${one}`,
			}));
		const fields = (
			type: string,
			given: Record<string, fc.Arbitrary<unknown>>,
			...needed: readonly string[]
		) =>
			fc.record<Json>(
				{ resourceType: fc.constant(type), ...given },
				{ requiredKeys: ["resourceType", type === "Patient" ? "id" : "subject", ...needed] },
			);
		const subject = reference("Patient", "Patient", "urn", "urn", "Group");
		const codes = fc.constantFrom<Json>(
			concept("A", icd10, "a"),
			concept("1", snomed),
			{ coding: [...concept("B", snomed).coding, ...concept("C").coding] },
			{},
		);
		const status = fc.constantFrom("active", "active", "active", "entered-in-error");
		const medication = {
			medicationReference: reference("Medication"),
			medicationCodeableConcept: codes,
		};
		const resource = fc.oneof(
			fields("Patient", {
				id,
				birthDate: fc.constantFrom("1980-06-01", "2019-05-20", "2020-01-31"),
				gender: fc.constantFrom("female", "male", "other"),
				deceasedDateTime: day,
			}),
			fields(
				"Condition",
				{
					id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
					subject,
					code: codes,
					onsetDateTime: day,
					recordedDate: day,
					encounter: reference("Encounter"),
					onsetAge: fc.constant({ value: 3, code: "a" }),
					verificationStatus: fc
						.constantFrom("confirmed", "confirmed", "confirmed", "refuted")
						.map((code) => ({ coding: [{ code }] })),
				},
				"code",
			),
			fields("MedicationRequest", {
				id,
				subject,
				status,
				authoredOn: day,
				encounter: reference("Encounter"),
				...medication,
			}),
			fields("MedicationStatement", {
				id,
				subject,
				status,
				effectiveDateTime: day,
				...medication,
				effectivePeriod: fc.record({ start: day }),
				context: reference("Encounter"),
			}),
			fields("Medication", { id, subject, code: codes }),
			fields("Encounter", {
				id,
				subject,
				status,
				period: fc.record({ start: day }),
				reasonCode: fc.tuple(codes),
				diagnosis: fc.array(fc.record({ condition: reference("Condition") }), { maxLength: 2 }),
			}),
			fields(
				"Observation",
				{
					id,
					subject,
					status,
					code: codes,
					effectiveDateTime: day,
					issued: day,
					valueQuantity: fc.constantFrom(
						{ value: 5.5, unit: "mmol/l", code: "mmol/L" },
						{ value: 99, unit: "mg/dL" },
						{ value: 1 },
						{},
					),
					valueInteger: fc.constant(3),
					encounter: reference("Encounter"),
					component: fc.tuple(fc.record({ code: codes, valueInteger: fc.constant(7) })),
				},
				"code",
			),
		);
		const entry = fc.record(
			{ resource, fullUrl: fc.integer({ min: 1, max: 30 }).map((one) => `urn:uuid:${one}`) },
			{ requiredKeys: ["resource"] },
		);
		const options = fc.record({
			allCodings: fc.boolean(),
			encounterReasons: fc.boolean(),
			measurements: fc.boolean(),
		});
		const outcome = <T>(work: () => T) => {
			try {
				return work();
			} catch (error) {
				if (error instanceof InputError) return error.message;
				throw error;
			}
		};
		let same = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.array(entry, { minLength: 20, maxLength: 60 }),
				options,
				async (entries, how) => {
					const content = { resourceType: "Bundle", entry: entries };
					const expected = await readAs(content, how).catch((error: Error) => error.message);
					const found = outcome(() => inMemory(content, how));
					if (typeof found === "string" || typeof expected === "string") {
						expect(expected).toContain(
							typeof found === "string" ? found.slice("x.json".length) : "no usable record",
						);
						return;
					}
					same += found.records.length;
					expect(found.records).toEqual(
						expected.records.map((record) => ({ unit: null, ...record })),
					);
					expect(found.people.map(({ place: _, ...person }) => person)).toEqual(
						expected.people.map(({ place: _, split: __, ...person }) => person),
					);
					const { diagnosesWithoutTime: diagnoses, olderVersions } = found.unresolved;
					const text = expected.notes.join("; ");
					if (diagnoses > 1) expect(text).toContain(`want of a time: ${diagnoses} diagnoses`);
					if (olderVersions > 1)
						expect(text).toContain(`${olderVersions} resources came again later`);
				},
			),
			{ numRuns: 40 },
		);
		expect(same).toBeGreaterThan(100);
	});
});

describe("files", () => {
	test("a folder means all JSON in and below it, in order; several paths mean all of them", async () => {
		const folder = await folderOf({
			"b/Condition.001.ndjson": lines(condition("B1"), condition("B2")),
			"b/Condition.000.ndjson.gz": lines(condition("A1")),
			"a/MedicationRequest.NDJSON": lines(request()),
			"Patient.json.gz": JSON.stringify(patient("1")),
			"b/log.json": '{"transactionTime":"2020","output":[]}',
			"b/list.json": "[1,2]",
			"empty.ndjson": "",
			"readme.txt": "hello",
			"b/._Condition.ndjson": "\0\0",
		});
		await symlink(folder, join(folder, "b", "circle"));
		const loaded = await load(await openFhir(folder));
		expect(rowsOf(loaded.records, "code")).toEqual(["860975", "A1", "B1", "B2"]);
		expect(loaded.people).toHaveLength(1);
		expect(loaded.notes).toEqual([
			`3 files of the folder are no FHIR and skipped; the first is ${folder}/b/list.json`,
		]);
		const paths = [join(folder, "b/Condition.001.ndjson"), join(folder, "a"), join(folder, "a")];
		const source = await openFhir(paths);
		expect(source.path).toBe(paths.join(", "));
		expect(rowsOf((await load(source)).records, "code")).toEqual(["B1", "B2", "860975"]);
	});

	const many = gzipSync(lines(...Array(1000).fill(condition("A"))));
	const damaged = Uint8Array.from(many).fill(0x55, 30, 60);

	test.each([
		["absent", /^absent: no such file; check the path$/],
		["none", /none is a folder without FHIR files; expected files named/],
		[
			"other",
			/other has no Patient and no usable record.*2 files of the folder are no FHIR and sk/,
		],
		["x.txt", /x\.txt: line 1 is not a JSON object/],
		["cut.json.gz", /^cut\.json\.gz: the gzip data end early; copy the file again$/],
		["bad", /bad\/a\.json: the JSON that starts on line 1 cannot be read/],
		["packed.txt", /packed\.txt: corrupt gzip/],
	])("that cannot be read are rejected by name: %s", async (name, message) => {
		const folder = await folderOf({
			"x.txt": "hello",
			"cut.json.gz": many.subarray(0, 60),
			"packed.txt": damaged,
			"none/readme.txt": "hello",
			"other/a.json": '{"a":1}',
			"other/b.json": "[]",
			"bad/a.json": "{",
			"bad/b.json": JSON.stringify(bundle(patient("1"))),
		});
		const loading = openFhir(join(folder, name)).then((source) => load(source));
		expect((await refusal(loading)).replaceAll(`${folder}/`, "")).toMatch(message);
	});

	test("are needed", () => refused(openFhir([]), "no FHIR file was named"));
});

test("yields records or a message after any mutation, never a crash", async () => {
	const text = JSON.stringify(
		bundle(
			patient("1", { birthDate: "1980", deceasedDateTime: "2020-05-17T10:30:00Z" }),
			condition("A", { onsetDateTime: undefined, onsetAge: { value: 3, code: "a" } }),
			condition("B", { onsetDateTime: undefined, encounter: { reference: "Encounter/9" } }),
			request({ contained: [{ id: "m" }], medicationReference: { reference: "#m" } }),
			encounter("9", { reasonCode: [concept("R")], diagnosis: [{}] }),
		),
	);
	const swaps = ["null", "[]", "{}", "1", '""', '"x"', "true", "[{}]", '{"coding":[{}]}'];
	const file = join(await temporaryFolder(), "x.json");
	const rows = new StagedRows();
	let turn = 0;
	const outcome = async (content: Uint8Array) => {
		await writeFile(file, content);
		const reader = resourceReader(rows, { encounterReasons: true });
		try {
			for await (const found of readResources(file)) if (found !== noResource) reader.read(found);
			if (turn++ % 15 === 0) await load(await openFhir(file)); // which is slow
		} catch (error) {
			if (!(error instanceof InputError)) throw error;
		}
	};
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }),
			fc.option(fc.tuple(fc.nat(), fc.constantFrom(...swaps))),
			async (edits, swap) => {
				let mutated = text;
				if (swap) {
					// put another value where one was
					const values = [...text.matchAll(/(?<=:)("[^"]*"|\d+|\{[^{}]*\}|\[[^[\]]*\])/g)];
					const found = values[swap[0] % values.length]!;
					const end = found.index + found[0].length;
					mutated = text.slice(0, found.index) + swap[1] + text.slice(end);
				}
				const bytes = Buffer.from(mutated);
				for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
				await outcome(bytes);
			},
		),
		{ numRuns: 150 },
	);
});

const real = new URL("../../../../../shared/data/synthea_fhir/fhir", import.meta.url).pathname;

describe.skipIf(!existsSync(real))("Synthea's bundles", () => {
	test("yield the same counts as a plain JSON parser", async () => {
		const loaded = await load(await openFhir(real));
		const counts = new Map<string, number>();
		for (const { kind, system } of loaded.records)
			counts.set(`${kind} ${system}`, (counts.get(`${kind} ${system}`) ?? 0) + 1);
		expect(Object.fromEntries(counts)).toEqual({ "diagnosis SNOMED": 28, "drug RxNorm": 12 });
		expect(loaded.people.map(({ birth, sex, death }) => [birth, sex, death])).toEqual([
			[9124, "female", null], // 1994-12-25
			[12831, "female", null], // 2005-02-17
			[16969, "male", null], // 2016-06-17
			[12593, "male", null], // 2004-06-24
		]);
		expect(loaded.names).toHaveLength(28);
		expect(loaded.records.reduce((sum, { time }) => sum + time, 0)).toBeCloseTo(688879.696748, 5);
		expect(loaded.notes).toEqual([
			"resources of other types were skipped: 467 Observation, 153 Procedure, 117 DiagnosticReport, 97 Claim, 85 DocumentReference, 85 ExplanationOfBenefit, 76 Immunization, 5 CarePlan, 5 CareTeam, 4 Provenance, 1 Device, 1 ImagingStudy",
		]);
		const reasons = await load(await openFhir(real, { encounterReasons: true }));
		expect(reasons.records).toHaveLength(40 + 30);
	});

	test("agree with JSON.parse row by row", async () => {
		const expected: string[] = [];
		for (const name of (await readdir(real)).sort())
			for (const { resource } of JSON.parse(await readFile(join(real, name), "utf8")).entry) {
				const { resourceType: type, subject } = resource;
				if (type !== "Condition" && type !== "MedicationRequest") continue;
				const { code } = (resource.code ?? resource.medicationCodeableConcept).coding[0];
				const day = Date.parse(resource.onsetDateTime ?? resource.authoredOn) / 864e5;
				expected.push(`${subject.reference.slice("urn:uuid:".length)} ${day.toFixed(6)} ${code}`);
			}
		const { records } = await load(await openFhir(real));
		expect(records.map((one) => `${one.patient} ${one.time.toFixed(6)} ${one.code}`)).toEqual(
			expected,
		);
	});
});
