import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import { dayOf, patientsOf, smallRules } from "../../testing/patients.js";
import type { About } from "../data/contract.js";
import { openFile, readContent } from "./reader.js";
import { fileRules } from "./records.js";
import { type FilePatients, toPatients } from "./to-patients.js";

const { vocabulary, rules } = smallRules;
const [diabetes, pressure, failure] = [5, 6, 7];

const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
const read = (text: string) => readContent(bytes(text));
const shown = (file: FilePatients) => ({ ...file, patients: patientsOf(file) });
const patients = async (text: string, options: Partial<ReadingRules> = {}) =>
	shown(toPatients(await read(text), vocabulary, { ...rules, ...options }));

describe("a table", () => {
	test("with a system for each code, births and sexes", async () => {
		const { patients: found, unknown } = await patients(
			`patient,time,code,system,sex,birth
a,2019-03-04,25000,ICD9CM,F,1950-01-01
a,2018-01-20,I10,ICD10CM,F,1950-01-01
a,2018-02-20,"428",PheCode,F,
b,2018-01-20,Z99.9,ICD10CM,,`,
		);
		expect(found).toEqual([
			{
				sample: null,
				name: "a",
				sex: "female",
				birth: dayOf("1950-01-01"),
				death: null,
				axis: "dates",
				events: [
					{ id: "e0", token: pressure, time: dayOf("2018-01-20") },
					{ id: "e1", token: failure, time: dayOf("2018-02-20") },
					{ id: "e2", token: diabetes, time: dayOf("2019-03-04") },
				],
			},
		]);
		expect(unknown).toEqual([{ code: "Z99.9", system: "ICD10CM", records: 1 }]);
	});

	test("whose column says the system, with other delimiters, in gzip", async () => {
		const text = "\uFEFFsubject_id;date;icd9\r\na;20180120;4019\r\na;2018/01/21;4280\r\n";
		const content = await readContent(new Uint8Array(gzipSync(text)));
		const found = shown(toPatients(content, vocabulary, rules)).patients[0]!;
		expect(found.events.map(({ token }) => token)).toEqual([pressure, failure]);
	});

	test("whose column of systems holds icd, which the form of the code decides", async () => {
		const { patients: found, notes } = await patients(
			"patient,time,code,system\na,2018-01-01,I10,icd\na,2018-01-02,250.20,ICD\n",
		);
		expect(found[0]!.events.map(({ token }) => token)).toEqual([pressure, diabetes]);
		expect(notes).toEqual([]);
	});

	test("without systems reports how codes were read", async () => {
		const { patients: found, notes } = await patients(
			"patient,time,code\na,2018-01-01,4019\na,2018-01-02,250.2\n",
		);
		expect(found[0]!.events.map(({ token }) => token)).toEqual([pressure, diabetes]);
		expect(notes).toEqual([
			"2 records name no system: their codes are read as the model's own, else as ICD",
		]);
	});

	test("uses the singular for one record", async () => {
		const days = [1, 2, 20].map((day) => `a,2018-01-${`${day}`.padStart(2, "0")},4019`);
		const table = (rows: readonly string[]) => ["patient,time,code", ...rows].join("\n");
		const one = await patients(table(days.slice(0, 1)));
		expect(one.notes).toEqual([
			"1 record names no system: its code is read as the model's own, else as ICD",
		]);
		const cut = await patients(table(days), { maxRecords: 2 });
		expect(cut.notes[1]).toBe("1 record beyond the last 2 of a patient: left out");
		const twice = await patients(table(days.slice(1)), { dedup: "month" });
		expect(twice.notes[1]).toBe("1 record repeats another within a month: left out");
	});

	test("keeps the death", async () => {
		const { patients: found } = await patients(
			"patient,date,phecode,death\na,2018-01-01,250,2019-05-06\n",
		);
		expect(found[0]!.death).toBe(dayOf("2019-05-06"));
	});

	test("of ages, with a model of dates", async () => {
		const { patients: found, notes } = await patients("id,age_years,phecode\na,50,250\na,50,401\n");
		expect(found[0]!.events[0]!.time).toBeCloseTo(50 * 365.25, 9);
		expect(found[0]).toMatchObject({ birth: 0, axis: "days" });
		expect(notes[0]).toContain("times are days here and dates in the model's records");
	});

	test("of 20,000 patients lists all, the ones with the most events first", async () => {
		const rows = Array.from({ length: 20_000 }, (_, at) => `p${at},2018-01-01,250`);
		const shares: number[] = [];
		const content = await readContent(
			bytes(["patient,date,phecode", ...rows, "p599,2019-01-01,401"].join("\n")),
			{ onProgress: (share) => shares.push(share) },
		);
		const { patients: found, notes } = toPatients(content, vocabulary, rules);
		expect(found).toHaveLength(20_000);
		expect(found[0]!.name).toBe("p599");
		expect(found[0]).toMatchObject({ records: 2, unknown: 0 });
		expect(notes).toEqual([]);
		expect(shares).toEqual([expect.closeTo(1, 3)]);
	});

	test("removes repetitions as in the model's dataset", async () => {
		const text = "patient,date,phecode\na,2018-01-01,250\na,2018-01-30,250\na,2018-02-01,250\n";
		expect((await patients(text, { dedup: "month" })).patients[0]!.events).toHaveLength(2);
		expect((await patients(text)).patients[0]!.events).toHaveLength(3);
	});

	test.each([
		["", "the file is empty"],
		["patient,time,code\n", "no record"],
		["a,b,c\n1,2,3\n", "no column has a usual name for the patient; the first line has a, b, c"],
		["patient,time,code\na,03/04/20,250\n", 'line 2: time is "03/04/20"; expected a date'],
		["patient,time,code\na,12,250\n", "for ages name the column age_days"],
		["patient,time,code\na,2020-01-01,\n", "no row has a code: the column code is empty"],
		[
			"patient,time,code\n,2020-01-01,250\n",
			"line 2: patient is empty; expected the id of a patient",
		],
		["patient,time,code\na,2020-02-30,250\n", 'line 2: time is "2020-02-30"'],
		["patient,time,code\na,2020-05,250\n", 'line 2: time is "2020-05"; expected a date such as'],
		[
			"patient,age_days,code\na,1e300,250\n",
			'age_days is "1e300"; expected an age from 0 to 120 years',
		],
		[
			"patient,age_years,code\na,-3000,250\n",
			'age_years is "-3000"; expected an age from 0 to 120',
		],
		["patient,days,code\na,1e7,250\n", 'days is "1e7"; expected at most 1,000,000 days'],
		[
			'patient,time,code\na,2020-01-01,"250"0\n',
			"line 2: the row is not well quoted; expected a delimiter after",
		],
		["patient,days,code\na,Infinity,250\n", "expected a number of days or years"],
		["patient,days,code\na,NA,250\n", "line 2: days is empty; expected a time for every record"],
		["patient,age,code\na,50,250\n", "the column age does not say what it counts"],
		[
			"patient,date,code,icd9\na,2020-01-01,1,2\n",
			"the columns code and icd9 could each be the code",
		],
		[
			"patient,time,code,birth\na,2020-01-01,250,1950-01-01\n\na,2020-01-02,250,1950-01-02\n",
			'line 4: birth is "1950-01-02"; expected the birth date of line 2: a patient has one',
		],
		['patient,time,code\na,2020-01-01,"250\n', "line 2: a quote is opened and never closed"],
		[
			"patient,time,code,system\na,2020-01-01,250,klingon\n",
			'line 2: system is "klingon"; expected one of the known systems',
		],
		["patient,time,code\na\n", "line 2: the row is 1 field long; expected 3 fields"],
	])("that is invalid is explained: %j", async (text, words) => {
		await expect(read(text)).rejects.toThrow(words);
	});

	test("of unknown codes lists the accepted systems", async () => {
		await expect(patients("patient,time,code\na,2020-01-01,X\n")).rejects.toThrow(
			"the one record has no code that this model knows, for instance X; accepted codes: ICD-9-CM and ICD-10-CM",
		);
	});
});

const bundle = (...resources: readonly object[]) =>
	JSON.stringify({ resourceType: "Bundle", type: "collection", entry: resources });
const patient = {
	fullUrl: "urn:uuid:1",
	resource: { resourceType: "Patient", id: "p1", gender: "male", birthDate: "1960-05-01" },
};
const condition = (
	code: string,
	more: object = {},
	system = "http://hl7.org/fhir/sid/icd-10-cm",
) => ({
	resource: {
		resourceType: "Condition",
		subject: { reference: "urn:uuid:1" },
		code: { coding: [{ system, code }] },
		...more,
	},
});

describe("a bundle", () => {
	test("with times from onset, age and encounter", async () => {
		const { patients: found, notes } = await patients(
			bundle(
				patient,
				condition("I50.9", { onsetAge: { value: 40, code: "a" } }),
				condition("I10", { onsetDateTime: "2012-03" }),
				condition("E11.9", { encounter: { reference: "Encounter/7" } }),
				condition("I10", {
					onsetDateTime: "2013",
					verificationStatus: { coding: [{ code: "refuted" }] },
				}),
				condition("I10"),
				{
					resource: {
						resourceType: "Encounter",
						id: "7",
						period: { start: "2014-05-06T07:00:00Z" },
					},
				},
				{ resource: { resourceType: "Observation" } },
			),
		);
		expect(found).toHaveLength(1);
		expect(found[0]).toMatchObject({ name: "p1", sex: "male", birth: dayOf("1960-05-01") });
		expect(found[0]!.events.map(({ token }) => token)).toEqual([failure, pressure, diabetes]);
		expect(found[0]!.events.map(({ time }) => time)).toEqual([
			expect.closeTo(dayOf("1960-05-01") + 40 * 365.25, 6),
			expect.closeTo(dayOf("2012-03-01"), 6),
			expect.closeTo(dayOf("2014-05-06") + 7 / 24, 6),
		]);
		expect(notes).toEqual([
			"1 resource entered in error or refuted: left out",
			"1 record without a time: left out",
			"1 resource of another type: left out",
		]);
	});

	test("as one resource per line", async () => {
		const lines = [
			patient,
			condition("I10", { onsetDateTime: "2012-03-04", subject: { reference: "Patient/p1" } }),
		];
		const { patients: found } = await patients(
			lines.map(({ resource }) => JSON.stringify(resource)).join("\n"),
		);
		expect(found[0]!.events).toEqual([{ id: "e0", token: pressure, time: dayOf("2012-03-04") }]);
	});

	test.each([
		["{", "the file: the JSON that starts on line 1 cannot be read: the file ends inside it"],
		['{"a":1}', "the file: line 1 is not a FHIR resource: its resourceType is nothing"],
		["[1]", "the file: line 1 is not a JSON object; expected a FHIR Bundle"],
		[bundle(patient), "holds no Condition with a code and a time"],
		[
			bundle(patient, condition("I10", { onsetDateTime: "13.5.2012" })),
			'onsetDateTime is "13.5.2012"',
		],
		["<Bundle/>", "XML or HTML"],
		["PK\u0003\u0004", "a ZIP archive or an Excel workbook"],
		["PAR1", "a Parquet file"],
		["a\u0000b", "the file is not text"],
	])("that is invalid is explained: %j", async (text, words) => {
		await expect(read(text)).rejects.toThrow(words);
	});

	test("that is nested too deeply is rejected", async () => {
		const open = '{"resourceType":"Bundle","entry":[{"resource":';
		const nested = `${open.repeat(5000)}${JSON.stringify(patient.resource)}${"}]}".repeat(5000)}`;
		await expect(read(nested)).rejects.toThrow("brackets in it are 1000 deep");
	});

	test("reports truncated gzip and other encodings", async () => {
		const whole = new Uint8Array(gzipSync("patient,time,code\n".repeat(50)));
		await expect(readContent(whole.slice(0, 20))).rejects.toThrow("gzip, but damaged");
		await expect(readContent(Uint8Array.of(0xff, 0xfe, 0x61, 0, 0x62))).rejects.toThrow(
			"damaged UTF-16",
		);
		const german = Uint8Array.from('{"a": "ä"}', (letter) => letter.charCodeAt(0));
		await expect(readContent(german)).rejects.toThrow("JSON, but not in UTF-8");
		await expect(readContent(new Uint8Array(gzipSync(whole)))).rejects.toThrow(
			"gzip inside of gzip",
		);
	});
});

describe("opening a file", () => {
	const table = bytes("patient,date,phecode\na,2018-01-01,250\na,2018-01-30,250\n");
	const file = (content: Uint8Array<ArrayBuffer>) => new Blob([content]);

	test("of gzip stops if it unpacks to more than fits in memory", async () => {
		const bomb = gzipSync(new Uint8Array(129 * 2 ** 20));
		expect(bomb.length).toBeLessThan(200_000);
		await expect(openFile(file(new Uint8Array(bomb)), smallRules)).rejects.toThrow(
			"the file is gzip and unpacks to more than 128 MB; the page reads up to 128 MB",
		);
	});

	test("that is too large is rejected before it is read", async () => {
		const huge = { size: 3e9, arrayBuffer: () => Promise.reject(new Error("read")) };
		await expect(openFile(huge, smallRules)).rejects.toThrow("the file has 2,861 MB");
	});

	test("that is gone, or causes an unexpected error, is explained", async () => {
		const gone = { size: 3, arrayBuffer: () => Promise.reject(new Error("NotFound")) };
		await expect(openFile(gone, smallRules)).rejects.toThrow("could not be read from the disk");
		const stumbling = { ...smallRules, vocabulary: { ...vocabulary, find: () => badly() } };
		const badly = (): never => {
			throw new RangeError("Invalid time value");
		};
		await expect(openFile(file(table), stumbling)).rejects.toThrow(
			"something that the page cannot deal with (RangeError)",
		);
	});

	test("rejects more records of one patient than can be drawn", async () => {
		const rows = Array.from({ length: 150_000 }, (_, at) => `a,${at / 100},250`);
		const many = ["patient,age_days,phecode", ...rows];
		await expect(openFile(file(bytes(many.join("\n"))), smallRules)).rejects.toThrow(
			"1 patient has more than 5,000 events, which is more than the page can draw",
		);
		const { patients: found, notes } = await openFile(
			file(bytes([...many.slice(0, 5100), "b,10,250"].join("\n"))),
			smallRules,
		);
		expect(found.map(({ name }) => name)).toEqual(["b"]);
		expect(notes[0]).toContain("`trajgpt forecast` read them: left out");
	});

	test("waits for the server's rules and follows them", async () => {
		const about = { records: { ...rules, dedup: "month" } } as About;
		const ready = { state: "ready", value: vocabulary } as const;
		expect(fileRules({ state: "loading" }, ready)).toEqual({ state: "loading" });
		expect(fileRules({ state: "ready", value: about }, { state: "loading" })).toEqual({
			state: "loading",
		});
		expect(fileRules({ state: "error", message: "gone" }, ready)).toEqual({
			...{ state: "error", message: "gone" },
		});
		const told = fileRules({ state: "ready", value: about }, ready);
		if (told.state !== "ready") throw new Error("expected to be ready");
		const { patients: found } = await openFile(file(table), told.value);
		expect(found[0]!.tokens).toHaveLength(1);
	});
});
