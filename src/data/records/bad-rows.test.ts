import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BadRows, readRow, reportBad } from "./bad-rows.js";
import { openEvents } from "./events.js";
import { openFhir } from "./fhir/index.js";
import { openMeds } from "./meds/index.js";
import { openOmop } from "./omop/index.js";
import { cdm, writeCdm } from "./omop/testing/cdm.js";
import type { RecordSource } from "./store.js";
import { openCsv, openParquetRecords } from "./tables/index.js";
import { load } from "./testing/load.js";
import { writeParquet } from "./testing/write-parquet.js";

let folder: string;
beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "trajgpt-bad-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function written(name: string, text: string): Promise<string> {
	const file = join(folder, name);
	await writeFile(file, text);
	return file;
}

/** The records that are left, as `patient code`, and the bad rows, with file names instead of paths. */
async function leftOut(source: RecordSource) {
	const bad = new BadRows();
	const { records, people } = await load(source, bad);
	return {
		records: records.map(({ patient, code }) => `${patient} ${code}`),
		people: people.map(({ patient }) => patient),
		count: bad.count,
		first: bad.first.map((text) => text.replaceAll(`${folder}/`, "")),
	};
}

describe("bad rows", () => {
	test("are counted, and ten are explained", async () => {
		const bad = new BadRows();
		await reportBad(bad, 7, async (rows) => {
			expect(rows).toBe(10);
			return Array.from({ length: 7 }, (_, row) => `a${row}`);
		});
		await reportBad(bad, 0, () => expect.unreachable());
		await reportBad(bad, 8, async (rows) => Array.from({ length: rows }, (_, row) => `b${row}`));
		expect([bad.count, bad.first.length, bad.first.at(-1), bad.unnamed]).toEqual([15, 10, "b2", 0]);
		expect(readRow(bad, () => 5)).toBe(5);
	});

	test("are refused without anyone to take note of them, the first one first", async () => {
		await expect(reportBad(undefined, 3, async (rows) => [`${rows}`])).rejects.toThrow(/^1$/);
		const broken = new Error("a fault of the program");
		expect(() =>
			readRow(new BadRows(), () => {
				throw broken;
			}),
		).toThrow(broken);
	});
});

describe("tables leave out", () => {
	test("rows without a patient, with a bad time or an unknown system", async () => {
		const file = await written(
			"claims.csv",
			"patient,date,code,system\na,2020-01-01,I10,icd10\n,2020-01-02,I10,icd10\nb,2020-13-01,E11,icd10\na,2020-01-03,,icd10\na,,,icd10\nb,2020-01-04,77,house\nb,1492-01-01,I50,icd10\nb,2020-01-05,I50,icd10\n",
		);
		const { records, count, first } = await leftOut(await openCsv(file));
		expect(records).toEqual(["a I10", "b I50"]);
		expect(count).toBe(4);
		expect(first).toEqual([
			"claims.csv: line 3: patient is empty; every record needs a patient: fill it in or remove the row",
			expect.stringMatching(/^claims\.csv: line 4: date is "2020-13-01"; expected a date such as /),
			expect.stringMatching(/^claims\.csv: line 7: system is "house", which is no code system; /),
			expect.stringMatching(/^claims\.csv: line 8: date is "1492-01-01"; expected a year/),
		]);
	});

	test("a row with several codes once, and the rows of every file", async () => {
		const wide = "patient,date,icd9_1,icd9_2\na,2020-01-01,401.9,250.00\nb,never,401.9,250.00\n";
		const files = [await written("one.csv", wide), await written("two.csv", wide)];
		const { records, count, first } = await leftOut(
			await openCsv(files, { code: ["icd9_1", "icd9_2"] }),
		);
		expect(records).toEqual(["a 401.9", "a 250.00", "a 401.9", "a 250.00"]);
		expect(count).toBe(2);
		expect(first.map((text) => text.slice(0, 15))).toEqual(["one.csv: line 3", "two.csv: line 3"]);
	});

	test("rows of drugs and of people, and name ten of all", async () => {
		const claims = await written("own.csv", "patient,date,icd9\na,2020-01-01,401.9\n");
		const drugs = await written("rx.csv", "patient,date,atc\na,soon,A10BA02\na,2020-01-02,C07\n");
		const people = await written(
			"people.csv",
			`patient,sex,birth\na,F,1960-01-01\n${"b,F,yesterday\n".repeat(12)}c,?!,\n`,
		);
		const {
			records,
			people: known,
			count,
			first,
		} = await leftOut(await openCsv(claims, { drugsFile: drugs, people }));
		expect([records, known, count]).toEqual([["a 401.9", "a C07"], ["a"], 14]);
		expect(first).toHaveLength(10);
		expect(first[0]).toMatch(/^rx\.csv: line 2: date is "soon"; /);
		expect(first[9]).toMatch(/^people\.csv: line 11: birth is "yesterday"; /);
	});

	test("rows of Parquet", async () => {
		const file = join(folder, "claims.parquet");
		await writeParquet(
			file,
			"SELECT * FROM (VALUES ('a', DATE '2020-01-01', '401.9'), (NULL, DATE '2020-01-01', '250.00'), ('a', NULL, '428.0')) t(patient, date, icd9)",
		);
		const { records, count, first } = await leftOut(await openParquetRecords(file));
		expect([records, count]).toEqual([["a 401.9"], 2]);
		expect(first).toEqual([
			expect.stringMatching(/^claims\.parquet: row 2: patient is empty; /),
			expect.stringMatching(/^claims\.parquet: row 3: date is empty; /),
		]);
	});
});

test("event lists leave out lines that are no history", async () => {
	const file = await written(
		"events.jsonl",
		'{"id":"a","types":[4],"times":[1]}\n{"id":"b","types":[4]}\nb,4,1\n{"id":"c","types":[4],"times":[null]}\n',
	);
	const { records, people, count, first } = await leftOut(await openEvents(file));
	expect([records, people, count]).toEqual([["a 4"], ["a"], 3]);
	expect(first).toEqual([
		expect.stringMatching(/^events\.jsonl: line 2: "times" is nothing; expected a list/),
		expect.stringMatching(/^events\.jsonl: line 3 is not JSON; /),
		expect.stringMatching(/^events\.jsonl: line 4: times\[0\] is null; /),
	]);
});

test("MEDS leaves out rows without a subject or code, and with bad times", async () => {
	const file = join(folder, "0.parquet");
	await writeParquet(
		file,
		`SELECT subject_id::BIGINT AS subject_id, time::VARCHAR AS time, code::VARCHAR AS code FROM (VALUES
			(1, '2020-01-01', 'ICD10CM//I10'), (NULL, '2020-01-01', 'ICD10CM//I10'), (2, '2020-01-01', ''),
			(2, 'May', 'ICD10CM//I10'), (2, NULL, 'GENDER//F'), (2, '2020-01-02', 'ICD10CM//E11.9')) t(subject_id, time, code)`,
	);
	const { records, people, count, first } = await leftOut(await openMeds(file));
	expect(records).toEqual(["1 I10", "2 E11.9"]);
	expect(people).toEqual(["1", "2", "2"]);
	expect(count).toBe(3);
	expect(first).toEqual([
		"0.parquet: row 2 has no subject_id; expected one in every row",
		"0.parquet: row 3 has no code; expected one in every row",
		expect.stringMatching(/^0\.parquet: row 4: time is "May"; expected an ISO date/),
	]);
});

test("OMOP leaves out rows of any table with people", async () => {
	await writeCdm(folder, {
		...cdm,
		death: [{ person_id: 2, death_date: "late" }],
		condition_occurrence: [
			...(cdm.condition_occurrence ?? []).slice(0, 3),
			{ ...cdm.condition_occurrence?.[0], person_id: "" },
		],
	});
	const { records, count, first } = await leftOut(await openOmop(folder));
	expect(records.slice(0, 3).map((record) => record.split(" ")[0])).toEqual(["1", "1", "2"]);
	expect(count).toBe(2);
	expect(first).toEqual([
		expect.stringMatching(/^death\.csv: line 2: death_date is "late"; expected a date/),
		expect.stringMatching(/^condition_occurrence\.csv: line 5: person_id is empty; /),
	]);
});

test("FHIR leaves out whole resources, and drugs of an unknown system", async () => {
	const subject = { reference: "Patient/a" };
	const code = (system: string, code: string) => ({ coding: [{ system, code }] });
	const loinc = "http://loinc.org";
	const file = await written(
		"bulk.ndjson",
		[
			{ resourceType: "Patient", id: "a" },
			{ resourceType: "Patient", id: "b", gender: "?" },
			{
				...{ resourceType: "Observation", subject, effectiveDateTime: "2020-01-01" },
				component: [{ code: code(loinc, "8480-6") }, { code: code("urn:house", "1") }],
			},
			{
				...{ resourceType: "Observation", subject, effectiveDateTime: "2020-01-02" },
				code: code(loinc, "2345-7"),
			},
			{ resourceType: "Medication", id: "m", code: code("urn:house", "2") },
			{
				...{ resourceType: "MedicationRequest", subject, authoredOn: "2020-01-03" },
				medicationReference: { reference: "Medication/m" },
			},
		]
			.map((resource) => JSON.stringify(resource))
			.join("\n"),
	);
	const { records, people, count, first } = await leftOut(
		await openFhir(file, { measurements: true }),
	);
	expect([records, people, count]).toEqual([["a 2345-7"], ["a"], 3]);
	expect(first).toEqual([
		expect.stringMatching(/^bulk\.ndjson: line 2: gender is /),
		expect.stringMatching(/^bulk\.ndjson: line 3: the code of a Observation is of system /),
		expect.stringMatching(/^bulk\.ndjson: line 5: the code of a Medication is of system /),
	]);
});
