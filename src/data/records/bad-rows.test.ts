import { expect, test } from "vitest";
import { BadRows, readRow, reportBad } from "./bad-rows.js";
import { openEvents } from "./events.js";
import { openFhir } from "./fhir/index.js";
import { openMeds } from "./meds/index.js";
import { openOmop } from "./omop/index.js";
import { cdm, cellsOf } from "./omop/testing/cdm.js";
import type { RecordSource } from "./store.js";
import { openCsv, openParquetRecords } from "./tables/index.js";
import { checkCase, formatCases } from "./testing/format-cases.js";

test("bad rows are counted, and ten are explained", async () => {
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

test("bad rows are refused without anyone to take note of them, the first one first", async () => {
	await expect(reportBad(undefined, 3, async (rows) => [`${rows}`])).rejects.toThrow(/^1$/);
	const broken = new Error("a fault of the program");
	const read = () =>
		readRow(new BadRows(), () => {
			throw broken;
		});
	expect(read).toThrow(broken);
});

const opening: Readonly<Record<string, (path: string, options: object) => Promise<RecordSource>>> =
	{
		csv: openCsv,
		parquet: openParquetRecords,
		events: openEvents,
		meds: openMeds,
		omop: openOmop,
		fhir: openFhir,
	};

const wide = String.raw`patient,date,icd9_1,icd9_2\na,2020-01-01,401.9,250.00\nb,never,401.9,250.00\n`;
const claims = String.raw`a.csv: patient,date,icd9\na,2020-01-01,401.9\n`;
const [first, second, third] = cdm.condition_occurrence ?? [];
const subject = '"subject":{"reference":"Patient/a"}';
const observation = `{"resourceType":"Observation",${subject},"effectiveDateTime":"2020-01-0`;
const coded = (system: string, code: string) =>
	`"code":{"coding":[{"system":"${system}","code":"${code}"}]}`;
const loinc = "http://loinc.org";

const cases = String.raw`
csv: patients, times and systems | a.csv: patient,date,code,system\na,2020-01-01,I10,icd10\n,2020-01-02,I10,icd10\nb,2020-13-01,E11,icd10\na,2020-01-03,,icd10\na,,,icd10\nb,2020-01-04,77,house\nb,1492-01-01,I50,icd10\nb,2020-01-05,I50,icd10\n | records(patient code): a I10 ; b I50 | count: 4 | bad: a.csv: line 3: patient is empty; every record needs a patient: fill it in or remove the row & a.csv: line 4: date is "2020-13-01"; expected a date such as & a.csv: line 7: system is "house", which is no code system; & a.csv: line 8: date is "1492-01-01"; expected a year
csv: a row with several codes once, and every file | one.csv: ${wide} | two.csv: ${wide} | {"code": ["icd9_1", "icd9_2"]} | records(patient code): a 401.9 ; a 250.00 ; a 401.9 ; a 250.00 | count: 2 | bad: one.csv: line 3 & two.csv: line 3
csv: drugs and people, ten of all | ${claims} | rx.csv: patient,date,atc\na,soon,A10BA02\na,2020-01-02,C07\n | p.csv: patient,sex,birth\na,F,1960-01-01\n${String.raw`b,F,yesterday\n`.repeat(12)}c,?!,\n | {"drugsFile": "rx.csv", "people": "p.csv"} | records(patient code): a 401.9 ; a C07 | people(patient): a | count: 14 | bad: rx.csv: line 2: date is "soon"; ${Array.from({ length: 9 }, (_, at) => `& p.csv: line ${at + 3}: birth is "yesterday"; `).join("")}
parquet: rows | a.parquet: SELECT * FROM (VALUES ('a', DATE '2020-01-01', '401.9'), (NULL, DATE '2020-01-01', '250.00'), ('a', NULL, '428.0')) t(patient, date, icd9) | records(patient code): a 401.9 | count: 2 | bad: a.parquet: row 2: patient is empty; & a.parquet: row 3: date is empty;
events: lines that are no history | a.jsonl: {"id":"a","types":[4],"times":[1]}\n{"id":"b","types":[4]}\nb,4,1\n{"id":"c","types":[4],"times":[null]}\n | records(patient code): a 4 | people(patient): a | count: 3 | bad: a.jsonl: line 2: "times" is nothing; expected a list & a.jsonl: line 3 is not JSON; & a.jsonl: line 4: times[0] is null;
meds: subjects, codes and times | a.parquet: SELECT subject_id::BIGINT AS subject_id, time::VARCHAR AS time, code::VARCHAR AS code FROM (VALUES (1, '2020-01-01', 'ICD10CM//I10'), (NULL, '2020-01-01', 'ICD10CM//I10'), (2, '2020-01-01', ''), (2, 'May', 'ICD10CM//I10'), (2, NULL, 'GENDER//F'), (2, '2020-01-02', 'ICD10CM//E11.9')) t(subject_id, time, code) | records(patient code): 1 I10 ; 2 E11.9 | people(patient): 1 ; 2 ; 2 | count: 3 | bad: a.parquet: row 2 has no subject_id; expected one in every row & a.parquet: row 3 has no code; expected one in every row & a.parquet: row 4: time is "May"; expected an ISO date
omop: rows of any table with people | ${cellsOf({ ...cdm, drug_exposure: [], death: [{ person_id: 2, death_date: "late" }], condition_occurrence: [first, second, third, { ...first, person_id: "" }].map((row) => row ?? {}) })} | records(patient): 1 ; 1 ; 2 | count: 2 | bad: death.csv: line 2: death_date is "late"; expected a date & condition_occurrence.csv: line 5: person_id is empty;
fhir: whole resources, and drugs of an unknown system | a.ndjson: {"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","id":"b","gender":"?"}\n${observation}1","component":[{${coded(loinc, "8480-6")}},{${coded("urn:house", "1")}}]}\n${observation}2",${coded(loinc, "2345-7")}}\n{"resourceType":"Medication","id":"m",${coded("urn:house", "2")}}\n{"resourceType":"MedicationRequest",${subject},"authoredOn":"2020-01-03","medicationReference":{"reference":"Medication/m"}}\n | {"measurements": true} | records(patient code): a 2345-7 | people(patient): a | count: 3 | bad: a.ndjson: line 2: gender is & a.ndjson: line 3: the code of a Observation is of system & a.ndjson: line 5: the code of a Medication is of system
`;
test.each(formatCases(cases))("leaves out bad rows of %s", (title, cells) =>
	checkCase(cells, opening[title.replace(/:.*/, "")] as (typeof opening)[string]),
);
