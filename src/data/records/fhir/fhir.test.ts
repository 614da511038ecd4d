import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import type { BadRows } from "../bad-rows.js";
import type { CodeNameRow, PersonRow, RecordRow } from "../rows.js";
import { openStore, type RecordSource, type Store, type Value } from "../store.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { type FhirOptions, openFhir, readResources } from "./index.js";
import { readFhirInMemory } from "./read-in-memory.js";
import { noResource } from "./resource-parser.js";
import { type ReadOptions, ResourceReader } from "./resources-to-records.js";
import { StagedRows } from "./staged-rows.js";

let folderOfStore: string;
let store: Store;
beforeAll(async () => {
	folderOfStore = await mkdtemp(join(tmpdir(), "trajgpt-fhir-"));
	store = await openStore({ folder: folderOfStore, memory: 2 ** 28, threads: 1 });
});
afterAll(async () => {
	store.close();
	await rm(folderOfStore, { recursive: true, force: true });
});

/** As `testing/load.ts`, but in one store for all tests: there are many here. */
async function load(source: RecordSource, bad?: BadRows) {
	const tables = ["stored_record", "person", "code_name", "observation"];
	await store.run(tables.map((table) => `DELETE FROM ${table}`).join(";"));
	const all = <Row>(table: string, columns = "*", order = "rowid") =>
		store.all<Row & Record<string, Value>>(`SELECT ${columns} FROM ${table} ORDER BY ${order}`);
	const loaded = await source.load(store, bad);
	expect(await store.all("SHOW TABLES")).toHaveLength(tables.length + 1); // and the view record
	return {
		...loaded,
		records: await all<RecordRow>("record", "* EXCLUDE row", "row"),
		people: await all<PersonRow>("person"),
		names: await all<CodeNameRow>("code_name"),
	};
}

type Json = Readonly<Record<string, unknown>>;

const icd10 = "http://hl7.org/fhir/sid/icd-10-cm";
const icd9 = "http://hl7.org/fhir/sid/icd-9-cm";
const snomed = "http://snomed.info/sct";
const rxnorm = "http://www.nlm.nih.gov/research/umls/rxnorm";

const concept = (code: string, system = icd10, display?: string) => ({
	coding: [{ system, code, ...(display ? { display } : {}) }],
});
const about = (patient = "Patient/1") => ({ subject: { reference: patient } });
const patient = (id: string, more: Json = {}): Json => ({ resourceType: "Patient", id, ...more });
const condition = (code: string, more: Json = {}): Json => ({
	resourceType: "Condition",
	...about(),
	code: concept(code),
	onsetDateTime: "2020-01-01",
	...more,
});
const request = (more: Json = {}): Json => ({
	resourceType: "MedicationRequest",
	status: "active",
	...about(),
	medicationCodeableConcept: concept("860975", rxnorm, "metformin"),
	authoredOn: "2020-01-02",
	...more,
});
const statement = (more: Json = {}): Json => ({
	resourceType: "MedicationStatement",
	status: "active",
	...about(),
	medicationCodeableConcept: concept("1191", rxnorm),
	...more,
});
const encounter = (id: string, more: Json = {}): Json => ({
	resourceType: "Encounter",
	id,
	status: "finished",
	...about(),
	period: { start: "2020-03-01T12:00:00Z" },
	...more,
});

const bundle = (...resources: Json[]) => ({
	resourceType: "Bundle",
	type: "collection",
	entry: resources.map((resource) => ({ resource })),
});
const lines = (...resources: Json[]) => resources.map((one) => JSON.stringify(one)).join("\n");

type Content = string | Uint8Array | Json;

async function written(files: Readonly<Record<string, Content>>): Promise<string> {
	const folder = await temporaryFolder();
	for (const [name, content] of Object.entries(files)) {
		await mkdir(dirname(join(folder, name)), { recursive: true });
		const raw = typeof content === "string" || content instanceof Uint8Array;
		await writeFile(join(folder, name), raw ? content : JSON.stringify(content));
	}
	return folder;
}

async function read(content: Content, options?: FhirOptions) {
	const folder = await written({ "x.json": content });
	return load(await openFhir(join(folder, "x.json"), options));
}

/** `1 18262 ICD10CM E11`: patient, time, system and code of each record. */
const short = async (content: Content, options?: FhirOptions) =>
	(await read(content, options)).records.map(
		({ patient: who, time, system, code }) => `${who} ${time} ${system} ${code}`,
	);

async function refusal(work: Promise<unknown>): Promise<string> {
	try {
		await work;
	} catch (error) {
		expect(error).toBeInstanceOf(InputError);
		return (error as Error).message;
	}
	throw new Error("it was not refused");
}

const refused = async (content: Content, options?: FhirOptions) =>
	(await refusal(read(content, options))).replace(/\S*\/x\.json/g, "x.json");

describe("resources", () => {
	test("a bundle yields records, people and names in order", async () => {
		const loaded = await read(
			bundle(
				condition("E11.9", { code: { ...concept("E11.9"), text: "diabetes" } }),
				request(),
				patient("1", { gender: "female", birthDate: "1960-05-17", deceasedDateTime: "2021-01-01" }),
				condition("250.00", { code: concept("250.00", icd9, "DM"), onsetDateTime: "1999-01-01" }),
				condition("44054006", { code: concept("44054006", snomed), onsetDateTime: "1970" }),
			),
		);
		expect(loaded.axis).toBe("dates");
		expect(loaded.notes).toEqual([]);
		const record = { patient: "1", kind: "diagnosis", value: null, unit: null };
		expect(loaded.records).toEqual([
			{ ...record, time: 18262, system: "ICD10CM", code: "E11.9" },
			{ ...record, time: 18263, system: "RxNorm", code: "860975", kind: "drug" },
			{ ...record, time: 10592, system: "ICD9CM", code: "250.00" },
			{ ...record, time: 0, system: "SNOMED", code: "44054006" },
		]);
		expect(loaded.people).toMatchObject([
			{ patient: "1", birth: -3516, sex: "female", death: 18628, split: null },
		]);
		expect(loaded.people[0]?.place).toMatch(/x\.json: entry 3$/);
		const name = { category: null, kind: null };
		expect(loaded.names).toEqual([
			{ ...name, system: "ICD10CM", code: "E11.9", name: "diabetes" },
			{ ...name, system: "RxNorm", code: "860975", name: "metformin" },
			{ ...name, system: "ICD9CM", code: "250.00", name: "DM" },
		]);
	});

	test("one resource per line, a single resource, indented JSON and nested bundles are read alike", async () => {
		const resources = [patient("1"), condition("E11"), request()];
		const expected = ["1 18262 ICD10CM E11", "1 18263 RxNorm 860975"];
		expect(await short(lines(...resources))).toEqual(expected);
		expect(await short(`\ufeff${lines(...resources).replaceAll("\n", "\r\n\r\n")}\r\n`)).toEqual(
			expected,
		);
		expect(await short(gzipSync(lines(...resources)))).toEqual(expected);
		expect(await short(JSON.stringify(bundle(...resources), null, 2))).toEqual(expected);
		expect(await short(bundle(bundle(...resources), bundle()))).toEqual(expected);
		expect(await short(lines(bundle(resources[0]!, resources[1]!), bundle(resources[2]!)))).toEqual(
			expected,
		);
		const { resourceType, ...rest } = bundle(...resources);
		expect(await short({ ...rest, resourceType })).toEqual(expected);
		expect(await short(JSON.stringify(condition("E11"), null, "\t"))).toEqual([expected[0]]);
	});

	test("patients are found by id, by URN and by absolute address", async () => {
		const entries = {
			resourceType: "Bundle",
			type: "transaction",
			entry: [
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
			],
		};
		const { records, people, notes } = await read(entries);
		expect(records.map((one) => `${one.patient} ${one.code}`)).toEqual([
			"7 A",
			"bb B",
			"9 C",
			"7 D",
			"nobody E",
			"aa F",
		]);
		expect(people.map((one) => one.patient)).toEqual(["7", "bb", "9"]);
		expect(notes).toEqual([
			"2 patients with records but without a Patient resource: birth and sex are unknown",
			"1 entry without a resource was skipped",
		]);
	});

	test("the last version of a resource counts, in any file", async () => {
		const folder = await written({
			"1.ndjson": lines(
				patient("1", { birthDate: "1960-01-01", gender: "female" }),
				encounter("e", { period: { start: "2020-03-01" } }),
				condition("E11", { id: "a" }),
				condition("I10", { id: "b" }),
				condition("I50", {
					id: "c",
					onsetDateTime: undefined,
					encounter: { reference: "Encounter/e" },
				}),
				condition("J45"),
				request({ id: "a" }),
			),
			"2.ndjson": lines(
				condition("J45"),
				condition("E11.9", { id: "a" }),
				condition("I10", {
					id: "b",
					verificationStatus: { coding: [{ code: "entered-in-error" }] },
				}),
				encounter("e", { period: { start: "2020-03-05" } }),
				patient("1", { birthDate: "1961-01-01", gender: "female" }),
			),
		});
		const { records, people, notes } = await load(await openFhir(folder));
		expect(records.map(({ time, code }) => `${time} ${code}`)).toEqual([
			`${Date.parse("2020-03-05") / 864e5} I50`,
			"18262 J45", // without an id two resources are two
			"18263 860975",
			"18262 J45",
			"18262 E11.9",
		]);
		expect(people.map(({ birth }) => birth)).toEqual([Date.parse("1961-01-01") / 864e5]);
		expect(notes).toContain(
			"4 resources came again later, under the same type and id: the last one read was kept",
		);
		expect(notes.join("\n")).toMatch(/left out as entered in error.*: 1 Condition/);
	});

	test("accepts people with missing fields", async () => {
		const { people, notes } = await read(
			lines(
				patient("1", { birthDate: "1980", gender: "other" }),
				patient("2", { birthDate: "1980-05", gender: "male", deceasedDateTime: "1990" }),
				patient("3", { deceasedBoolean: true, deceasedDateTime: "1990-02" }),
				patient("4", { deceasedBoolean: true }),
				patient("5", { deceasedBoolean: false, gender: null }),
			),
		);
		expect(people.map(({ birth, sex, death }) => [birth, sex, death])).toEqual([
			[3652, null, null],
			[3773, "male", 7669], // 1990-12-31
			[null, null, 7363], // 1990-02-28
			[null, null, null],
			[null, null, null],
		]);
		expect(notes).toEqual(["1 patient died on a day that is not given"]);
	});
});

describe("times", () => {
	const untimed = (code: string, more: Json = {}) =>
		condition(code, { onsetDateTime: undefined, ...more });

	test("of a condition: onset, then recorded, then the encounter", async () => {
		const seen = await read(
			bundle(
				untimed("A", { onsetPeriod: { start: "2020-01-05" }, recordedDate: "2021-01-01" }),
				untimed("B", { onsetAge: { value: 40, code: "a" }, recordedDate: "2021-01-01" }),
				untimed("C", { onsetAge: { value: 6, unit: "months" }, ...about("Patient/2") }),
				untimed("D", {
					onsetAge: { value: 6, unit: "months" },
					recordedDate: "2020-01-06",
					...about("Patient/2"),
				}),
				untimed("E", { onsetPeriod: {}, recordedDate: "2020-01-07" }),
				untimed("F", { encounter: { reference: "Encounter/9" } }),
				untimed("G", { id: "g" }),
				untimed("H", { onsetString: "long ago" }),
				untimed("I", { encounter: { reference: "Encounter/none" } }),
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
			),
		);
		expect(seen.records.map(({ code, time }) => `${code} ${time}`)).toEqual([
			"A 18266",
			`B ${3652 + 40 * 365.25}`,
			"D 18267",
			"E 18268",
			"F 18322.5",
			"G 18353",
			"J 18322.5",
		]);
		expect(seen.notes[0]).toBe("left out for want of a time: 3 diagnoses, 0 drugs");
	});

	test("of a drug: written, taken, asserted, or the encounter's", async () => {
		const seen = await short(
			bundle(
				encounter("9"),
				request({ authoredOn: undefined, encounter: { reference: "Encounter/9" } }),
				statement({ effectiveDateTime: "2020-01-03", dateAsserted: "2021-01-01" }),
				statement({ effectivePeriod: { start: "2020-01-04" } }),
				statement({ effectivePeriod: { end: "2020-01-04" }, dateAsserted: "2020-01-05" }),
				statement({ context: { reference: "Encounter/9" } }),
				statement(),
			),
		);
		expect(seen).toEqual([
			"1 18322.5 RxNorm 860975",
			"1 18264 RxNorm 1191",
			"1 18265 RxNorm 1191",
			"1 18266 RxNorm 1191",
			"1 18322.5 RxNorm 1191",
		]);
	});

	test("of limited precision, or in an eastern zone, are not before a birth within them", async () => {
		const seen = await short(
			bundle(
				patient("1", { birthDate: "2020-05-17" }),
				condition("A", { onsetDateTime: "2020" }),
				condition("B", { onsetDateTime: "2020-05" }),
				condition("C", { onsetDateTime: "2020-05-17T01:00:00+09:00" }),
				condition("D", { onsetDateTime: "2020-06" }),
				condition("E", { onsetDateTime: "2019" }),
				condition("F", { onsetDateTime: "2020", ...about("Patient/2") }),
			),
		);
		expect(seen.map((one) => one.split(" ")[1])).toEqual([
			"18399",
			"18399",
			"18399",
			"18414",
			"17897",
			"18262",
		]);
	});
});

describe("drugs", () => {
	test("take their code from a Medication, in the bundle or contained", async () => {
		const medication = (id: string, code: Json | undefined): Json => ({
			resourceType: "Medication",
			id,
			...(code ? { code } : {}),
		});
		const by = (reference: string, more: Json = {}) =>
			request({
				medicationCodeableConcept: undefined,
				medicationReference: { reference },
				...more,
			});
		const both = {
			coding: [
				...concept("N02", "http://www.whocc.no/atc").coding,
				...concept("161", rxnorm, "p").coding,
			],
		};
		const content = bundle(
			by("Medication/a"),
			by("#m", { contained: [medication("m", concept("1191", rxnorm, "aspirin"))] }),
			by("#gone"),
			by("Medication/gone"),
			by("Medication/b"),
			by("http://a/fhir/Medication/a"),
			medication("a", concept("old", rxnorm)),
			medication("a", both),
			medication("b", undefined),
			medication("c", concept("X", "http://local.example")),
		);
		const { records, names, notes } = await read(content);
		expect(records.map(({ system, code }) => `${system} ${code}`)).toEqual([
			"RxNorm 161",
			"RxNorm 1191",
			"RxNorm 161",
		]);
		expect(names.map(({ code, name }) => [code, name])).toEqual([
			["161", "p"],
			["1191", "aspirin"],
		]);
		expect(notes).toEqual([
			"1 resource came again later, under the same type and id: the last one read was kept",
			"left out for want of a code with a system: 1 MedicationRequest",
			"left out: 2 drugs whose Medication is in no file or has no code with a system",
			"1 resource had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all",
			"1 patient with records but without a Patient resource: birth and sex are unknown",
		]);
		const all = await read(content, { allCodings: true });
		expect(all.records.map(({ code }) => code)).toEqual(["N02", "161", "1191", "N02", "161"]);
		expect(
			await refused(
				bundle(medication("c", concept("X", "http://local.example")), by("Medication/c")),
			),
		).toContain(
			'x.json: entry 1: the code of a Medication is of system "http://local.example", which is not known',
		);
	});
});

describe("what is left out", () => {
	test("is counted by reason", async () => {
		const status = (code: string) => ({ verificationStatus: concept(code, "x") });
		const { records, notes } = await read(
			bundle(
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
			),
		);
		expect(records.map(({ code }) => code)).toEqual(["C", "860975"]);
		expect(notes).toEqual([
			"resources of other types were skipped: 2 Observation, 1 Claim",
			"left out as entered in error, refuted, cancelled, not taken or not to be given: 3 MedicationRequest, 2 Condition, 1 Encounter, 1 MedicationStatement",
			"left out for want of a code with a system: 1 Condition",
			"left out as not about a patient: 1 Condition",
		]);
	});

	test("can be included: all codings, reasons of encounters, other systems", async () => {
		const local = { system: "http://local.example/x", code: "L1" };
		const several = {
			coding: [local, ...concept("44054006", snomed).coding, ...concept("E11").coding],
		};
		const content = bundle(
			patient("1"),
			condition("", { code: several }),
			encounter("1", { reasonCode: [concept("R1", snomed, "a reason"), {}] }),
		);
		const plain = await read(content);
		expect(plain.records.map(({ code }) => code)).toEqual(["E11"]);
		expect(plain.notes).toEqual([
			"1 resource had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all",
			'codings of unknown systems were left out beside known ones: 1 "http://local.example/x"; --allow-system keeps one',
		]);
		const all = { allCodings: true, encounterReasons: true, allowSystems: [local.system] };
		expect(await short(content, all)).toEqual([
			"1 18262 http://local.example/x L1",
			"1 18262 SNOMED 44054006",
			"1 18262 ICD10CM E11",
			"1 18322.5 SNOMED R1",
		]);
		expect((await read(content, all)).notes).toEqual([
			"left out for want of a code with a system: 1 Encounter",
		]);
	});
});

describe("in memory", () => {
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
				...{ id, birthDate: fc.constantFrom("1980-06-01", "2019-05-20", "2020-01-31") },
				...{ gender: fc.constantFrom("female", "male", "other"), deceasedDateTime: day },
			}),
			fields(
				"Condition",
				{
					...{
						id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
						subject,
						code: codes,
						onsetDateTime: day,
						recordedDate: day,
					},
					...{ encounter: reference("Encounter"), onsetAge: fc.constant({ value: 3, code: "a" }) },
					verificationStatus: fc
						.constantFrom("confirmed", "confirmed", "confirmed", "refuted")
						.map((code) => ({ coding: [{ code }] })),
				},
				"code",
			),
			fields("MedicationRequest", {
				...{
					id,
					subject,
					status,
					authoredOn: day,
					encounter: reference("Encounter"),
					...medication,
				},
			}),
			fields("MedicationStatement", {
				...{ id, subject, status, effectiveDateTime: day, ...medication },
				...{ effectivePeriod: fc.record({ start: day }), context: reference("Encounter") },
			}),
			fields("Medication", { id, subject, code: codes }),
			fields("Encounter", {
				...{ id, subject, status, period: fc.record({ start: day }), reasonCode: fc.tuple(codes) },
				diagnosis: fc.array(fc.record({ condition: reference("Condition") }), { maxLength: 2 }),
			}),
			fields(
				"Observation",
				{
					...{ id, subject, status, code: codes, effectiveDateTime: day, issued: day },
					valueQuantity: fc.constantFrom(
						{ value: 5.5, unit: "mmol/l", code: "mmol/L" },
						{ value: 99, unit: "mg/dL" },
						{ value: 1 },
						{},
					),
					...{ valueInteger: fc.constant(3), encounter: reference("Encounter") },
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
			...{ allCodings: fc.boolean(), encounterReasons: fc.boolean() },
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
					const expected = await read(content, how).catch((error: Error) => error.message);
					const found = outcome(() => inMemory(content, how));
					if (typeof found === "string" || typeof expected === "string") {
						expect(expected).toContain(
							typeof found === "string" ? found.slice("x.json".length) : "no usable record",
						);
						return;
					}
					same += found.records.length;
					expect(found.records).toEqual(expected.records);
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
		const folder = await written({
			"b/Condition.001.ndjson": lines(condition("B1"), condition("B2")),
			"b/Condition.000.ndjson.gz": gzipSync(lines(condition("A1"))),
			"a/MedicationRequest.NDJSON": lines(request()),
			"Patient.json.gz": gzipSync(JSON.stringify(patient("1"))),
			"b/log.json": '{"transactionTime":"2020","output":[]}',
			"b/list.json": "[1,2]",
			"empty.ndjson": "",
			"readme.txt": "hello",
			"b/._Condition.ndjson": "\0\0",
		});
		await symlink(folder, join(folder, "b", "circle"));
		const loaded = await load(await openFhir(folder));
		expect(loaded.records.map(({ code }) => code)).toEqual(["860975", "A1", "B1", "B2"]);
		expect(loaded.people).toHaveLength(1);
		expect(loaded.notes).toEqual([
			`3 files of the folder are no FHIR and skipped; the first is ${folder}/b/list.json`,
		]);
		const some = [join(folder, "b/Condition.001.ndjson"), join(folder, "a"), join(folder, "a")];
		const source = await openFhir(some);
		expect(source.path).toBe(some.join(", "));
		expect((await load(source)).records.map(({ code }) => code)).toEqual(["B1", "B2", "860975"]);
	});

	test("that cannot be read are rejected by name", async () => {
		const folder = await written({
			"x.txt": "hello",
			"cut.json.gz": gzipSync(lines(...Array(100).fill(condition("A")))).subarray(0, 60),
			"none/readme.txt": "hello",
			"other/a.json": '{"a":1}',
			"other/b.json": "[]",
			"bad/a.json": "{",
			"bad/b.json": bundle(patient("1")),
		});
		const said = async (name: string) =>
			(await refusal(openFhir(join(folder, name)).then(async (source) => load(source)))).replaceAll(
				`${folder}/`,
				"",
			);
		expect(await said("absent")).toBe("absent: no such file; check the path");
		expect(await said("none")).toContain(
			"none is a folder without FHIR files; expected files named",
		);
		expect(await said("other")).toContain("other has no Patient and no usable record");
		expect(await said("other")).toContain("2 files of the folder are no FHIR and skipped");
		expect(await said("x.txt")).toContain("x.txt: line 1 is not a JSON object");
		expect(await said("cut.json.gz")).toBe(
			"cut.json.gz: the gzip data end early; copy the file again",
		);
		expect(await said("bad")).toContain(
			"bad/a.json: the JSON that starts on line 1 cannot be read",
		);
		expect(await refusal(openFhir([]))).toContain("no FHIR file was named");
		const packed = gzipSync(lines(...Array(1000).fill(condition("A"))));
		packed.fill(0x55, 30, 60);
		await writeFile(join(folder, "x.txt"), packed);
		expect(await said("x.txt")).toContain("x.txt: corrupt gzip");
	});
});

describe("invalid content", () => {
	test("is rejected with its location", async () => {
		expect(await refused("")).toContain("x.json is empty; expected a FHIR Bundle");
		expect(await refused("<Bundle xmlns='http://hl7.org/fhir'/>")).toContain("looks like XML");
		expect(await refused({ a: 1 })).toBe(
			"x.json: line 1 is not a FHIR resource: its resourceType is nothing; expected a Bundle, Patient, Condition or another resource",
		);
		expect(await refused({ resourceType: "a thing" })).toContain('resourceType is "a thing"');
		expect(await refused({ resourceType: 3 })).toContain("resourceType is a number");
		expect(await refused(bundle(patient("1"), {}))).toContain(
			"x.json: entry 2 is not a FHIR resource",
		);
		expect(await refused({ entry: [{ resource: patient("1") }], resourceType: "List" })).toContain(
			"has resources in entries, but its resourceType is List; expected a Bundle",
		);
		expect(await refused({ resourceType: "Observation", entry: [{ item: {} }] })).toBe(
			"x.json has no Patient and no usable record; expected Patient, Condition, MedicationRequest or MedicationStatement resources; resources of other types were skipped: 1 Observation",
		);
		expect(await refused(bundle())).toContain("found no resource at all");
		expect(await refused(`${lines(patient("1"))}\n{"resourceType": oops}`)).toBe(
			"x.json: line 2 is not JSON; correct it or export the file again",
		);
		expect(await refused('{"resourceType":"Bundle","entry":[{},\n{"a" 1}]}')).toBe(
			"x.json: entry 2 (line 2) is not JSON; correct it or export the file again",
		);
		expect(await refused('{"resourceType":"Patient","id":"1","id":"2"}')).toBe(
			'x.json: line 1 holds the key "id" twice in one object, and only one could be read; leave one out',
		);
		const whole = JSON.stringify(bundle(patient("1"), condition("A")));
		expect(await refused(whole.slice(0, -20))).toBe(
			"x.json: entry 2 (line 1) cannot be read: the file ends inside it; copy the file again",
		);
		expect(await refused(Buffer.from('{"resourceType":"Patient","id":"\xff"}', "latin1"))).toBe(
			"x.json: line 1 is not UTF-8; convert the file to UTF-8",
		);
	});

	test("a resource without a required field is rejected with its location", async () => {
		const said = (...resources: Json[]) => refused(bundle(...resources));
		expect(await said(patient("1", { birthDate: "1980-13" }))).toContain(
			'x.json: entry 1: birthDate is "1980-13"; expected a date such as',
		);
		expect(await said(condition("A", { onsetDateTime: "05/17/2020" }))).toContain(
			'entry 1: onsetDateTime is "05/17/2020"',
		);
		expect(await said(encounter("1", { period: { start: "x" } }))).toContain(
			'entry 1: period: start is "x"',
		);
		expect(
			await said(
				condition("A", { onsetDateTime: undefined, onsetAge: { value: 3, unit: "moons" } }),
			),
		).toContain('entry 1: onsetAge is 3 of unit "moons"; expected an age in years (a)');
		expect(await said(patient("", {}))).toContain("entry 1: a Patient has no id");
		expect(await said(patient("1", { gender: "x" }))).toContain('gender is "x"; expected female');
		expect(await said(condition("A", { subject: undefined }))).toContain(
			"entry 1: a Condition does not say whose it is: its subject is absent",
		);
		expect(await said(condition("A", about("Patient?identifier=a|1")))).toContain(
			"is a contained resource or a search",
		);
		expect(await said(condition("A", about("#p")))).toContain("is a contained resource");
		expect(
			await said(patient("1"), condition("A", { code: concept("A", "urn:oid:1.2.3") })),
		).toMatch(
			/^x\.json: entry 2: the code of a Condition is of system "urn:oid:1\.2\.3", which is not known; known are ICD9CM, .*; to keep its codes under this name, pass `allowSystems` "urn:oid:1\.2\.3"$/,
		);
	});

	test("unclosed brackets, texts and entries are rejected", async () => {
		const deep = `{"resourceType":"Patient","a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
		expect(await refused(deep)).toContain("brackets in it are 1000 deep");
		const long = Buffer.alloc(80 << 20, "a");
		long.write('{"resourceType":"Bundle","entry":[{"a":"');
		expect(await refused(gzipSync(long, { level: 1 }))).toContain(
			"entry 1 (line 1) cannot be read: it is longer than 67108864 bytes; split it",
		);
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
			const reader = new ResourceReader(rows, { encounterReasons: true });
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
