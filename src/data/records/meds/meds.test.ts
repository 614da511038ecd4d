import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import type { MedsOptions } from "../options.js";
import { recordKinds } from "../rows.js";
import { withStore } from "../store.js";
import { checkCase, folderOf, formatCases, refused, rowsOf } from "../testing/format-cases.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openMeds } from "./index.js";

const meds = async (path: string, options?: MedsOptions) => load(await openMeds(path, options));

/** A query for rows of the standard's own types; each is `subject,time,code,value`. */
const rows = (...list: string[]): string => {
	const literal = (text: string) => (text === "" ? "NULL" : `'${text}'`);
	const values = list.map((row) => {
		const [subject = "", time = "", code = "", value = ""] = row.split(",");
		return `(${[subject, time, code, value].map(literal).join(", ")})`;
	});
	return `SELECT subject_id::BIGINT AS subject_id, time::TIMESTAMP AS time, code::VARCHAR AS code, value::FLOAT AS numeric_value FROM (VALUES ${values.join(", ")}) t(subject_id, time, code, value)`;
};

const two = {
	"data/train/0.parquet": rows(
		"7,,GENDER//F",
		"7,1970-01-02,MEDS_BIRTH",
		"7,2020-01-01 12:00:00,DIAGNOSIS//ICD//9//5715",
		"7,2020-01-01 12:00:00,LAB//50912//mg/dL,1.5",
		"7,2019-01-01,RxNorm/197361,2",
		"7,2021-01-01,MEDS_DEATH",
	),
	"data/held_out/0.parquet": rows(
		"8,,GENDER//M",
		"8,2020-01-01,ICD10CM//I50.9",
		"8,,ICD10CM//I50.9",
		"9,2020-01-02,ICD10CM//I50.9",
	),
	"metadata/codes.parquet": `SELECT * FROM (VALUES
		('DIAGNOSIS//ICD//9//5715', 'Cirrhosis', ['ICD9CM/571.5']),
		('ICD10CM//I50.9', NULL, NULL), ('ICD10CM//I50.9', ' Heart failure ', NULL), ('ICD10CM//I50.9', 'second', NULL),
		('LAB//50912//mg/dL', 'Creatinine', NULL), ('unseen', 'Unseen', NULL)) t(code, description, parent_codes)`,
	"metadata/subject_splits.parquet":
		"SELECT * FROM (VALUES (7::BIGINT, 'train'), (8, 'held_out'), (10, 'tuning')) t(subject_id, split)",
};

describe("openMeds", () => {
	test("reads shards in the order of their paths, with people, splits and names", async () => {
		const folder = await folderOf(two);
		const { axis, notes, records, people, names } = await meds(folder);
		expect(axis).toBe("dates");
		expect(rowsOf(records)).toEqual([
			"8 18262 I50.9 ICD10CM diagnosis",
			"9 18263 I50.9 ICD10CM diagnosis",
			"7 18262.5 5715 ICD9CM diagnosis",
			"7 17897 197361 RxNorm drug 2",
		]);
		const facts = ["8 test", "9", "8 male", "7 train", "7 female", "7 1", "7 18628"];
		expect(rowsOf(people)).toEqual(facts);
		expect(people.slice(5).map(({ birth, death }) => [birth, death])).toEqual([
			[1, null],
			[null, 18628],
		]);
		const rowsOfPeople = [1, 4, 1, 1, 1, 2, 6];
		expect(people.map(({ place }) => place)).toEqual(
			rowsOfPeople.map(
				(row, at) =>
					`${join(folder, "data", at < 3 ? "held_out" : "train", "0.parquet")}: row ${row}`,
			),
		);
		expect(rowsOf(names)).toEqual(["ICD9CM 5715 Cirrhosis", "ICD10CM I50.9 Heart failure"]);
		expect(notes).toEqual([
			"1 rows of other kinds than diagnosis and drug left out; see --kinds",
			"1 rows without a time left out",
			`1 subjects have no split in ${join(folder, "metadata/subject_splits.parquet")}: they are split by a hash of their id`,
		]);
	});

	test("accepts the data folder, a single file, and other kinds", async () => {
		const folder = await folderOf(two);
		for (const path of [join(folder, "data"), `${join(folder, "data")}/`])
			expect(await meds(path)).toEqual(await meds(folder));
		const alone = await meds(join(folder, "data/train/0.parquet"), { kinds: ["laboratory"] });
		expect(rowsOf(alone.records)).toEqual(["7 18262.5 LAB//50912//mg/dL MEDS laboratory 1.5"]);
		expect(new Set(rowsOf(alone.people, "split"))).toEqual(new Set(["null"]));
		expect(alone.notes).toEqual(["2 rows of other kinds than laboratory left out; see --kinds"]);
		const all = await meds(folder, { kinds: recordKinds });
		expect(all.records.length).toBe(5);
		expect(all.names.map(({ name }) => name)).toEqual(["Cirrhosis", "Heart failure", "Creatinine"]);
	});

	test("ignores splits on request, and notes missing metadata", async () => {
		const ignored = await meds(await folderOf(two), { splits: "ignore" });
		expect(new Set(ignored.people.map(({ split }) => split))).toEqual(new Set([null]));
		expect(ignored.notes.join()).not.toContain("split");
		const bare = await folderOf({ "data/0.parquet": two["data/train/0.parquet"] });
		expect((await meds(bare)).notes.slice(1)).toEqual([
			"no metadata/codes.parquet: codes have no names",
			"no metadata/subject_splits.parquet: patients are split by a hash of their id",
		]);
	});

	const text = String.raw`subject_id,time,code,numeric_value,text_value\r\na 1,2020-01-01T12:00:00.000Z,ICD9CM/250,3.5,"x, ""y""\n"\r\na 1,,GENDER//F,,\r\n007,20200102,ICD9CM/251,nan,\r\n`;
	const one = "'2020-01-01' AS time, 'ICD9CM/250' AS code";
	const numbered = (...list: string[]) => `SELECT *, 7 AS file_row_number FROM (${rows(...list)})`;
	const cases = String.raw`
every birth, death and sex, for later comparison | 0.parquet: ${rows("1,1970-01-02,MEDS_BIRTH", "1,1970-01-02,MEDS_BIRTH", "1,1970-01-03,MEDS_BIRTH//x", "1,,MEDS_DEATH", "1,,SEX//F", "1,2020-01-01,SEX//M", "1,,SEX//UNK", "1,2020-01-01,ICD9CM/250")} | people: 1 ; 1 1 ; 1 2 ; 1 female ; 1 male | notes: 1 rows give a sex that is neither female nor male
text | a.csv: \ufeff${text} | records(patient time code value): a 1 18262.5 250 3.5 ; 007 18263 251 null | people(patient sex): a 1 null ; 007 null ; a 1 female
packed text | a.csv.gz: ${text} | records(patient time code value): a 1 18262.5 250 3.5 ; 007 18263 251 null
texts, and a value of another name | 0.parquet: SELECT ' 5 ' AS Subject_ID, ${one}, 1.5::DOUBLE AS value | records(patient time value): 5 18262 1.5
an older name of subjects, dates and bytes | 0.parquet: SELECT 5::UTINYINT AS patient_id, DATE '2020-01-01' AS time, 'ICD9CM/250'::BLOB AS code, 'x' AS value | records: 5 18262 250 ICD9CM diagnosis
times with a zone | 0.parquet: SELECT 5::INT AS subject_id, TIMESTAMPTZ '2020-01-01 06:00:00+06' AS time, 'ICD9CM/250' AS code, 3 AS numeric_value | records(patient time value): 5 18262 3
nanoseconds and infinite values | 0.parquet: SELECT 5::BIGINT AS subject_id, TIMESTAMP_NS '2020-01-01' AS time, 'ICD9CM/250' AS code, 'inf'::FLOAT AS numeric_value | records(patient time value): 5 18262 null
a column file_row_number | data/0.parquet: ${numbered("1,2020-01-02,ICD9CM/250", "1,2020-01-01,ICD9CM/401")} | records(code): 250 ; 401
`;
	test.each(formatCases(cases))("reads %s", (_, cells) => checkCase(cells, openMeds));

	test("keeps the order of rows for any number of shards, row groups and threads", async () => {
		const query = (from: number, to: number) =>
			`SELECT i // 7 AS subject_id, TIMESTAMP '2020-01-01' + to_days((hash(i) % 900)::INT) AS time,
			'ICD9CM/' || (hash(i) % 999) || repeat(' ', (i % 3)::INT) AS code, i::DOUBLE AS numeric_value FROM range(${from}, ${to}) t(i)`;
		const folder = await folderOf({
			"data/a.parquet": query(0, 300_000),
			"data/b.parquet": query(300_000, 310_000),
		});
		const source = await openMeds(folder);
		await withStore({ memory: 2 ** 28, threads: 4, files: source.files }, async (store) => {
			await source.load(store);
			expect(
				await store.all(
					"SELECT count(*) AS n, count(*) FILTER (value = row - 1) AS kept, count(DISTINCT code) AS codes FROM record",
				),
			).toEqual([{ n: 310_000, kept: 310_000, codes: 999 }]);
		});
	});

	test("keeps many codes, long codes and odd codes unchanged", async () => {
		const folder = await folderOf({
			"0.parquet": `SELECT 1 AS subject_id, TIMESTAMP '2020-01-01' AS time, code FROM (
				SELECT 'c' || i AS code FROM range(25000) t(i) UNION ALL SELECT repeat('é', 100000)
				UNION ALL SELECT 'it''s "x" \\ ' || chr(1) || chr(10) || '{}' UNION ALL SELECT ' x ' UNION ALL SELECT '💊//\\u0041')`,
		});
		const { records } = await meds(folder, { kinds: ["other"] });
		const codes = new Set(records.map(({ code }) => code));
		expect([records.length, codes.size]).toEqual([25_004, 25_004]);
		const odd = ["c24999", "é".repeat(100_000), `it's "x" \\ \u0001\n{}`, " x ", "💊//\\u0041"];
		for (const code of odd) expect(codes).toContain(code);
	});

	test("leaves no temporary tables in the store", async () => {
		const text = "subject_id,time,code\n1,2020-01-01,ICD9CM/250\n";
		const folder = await folderOf({ ...two, "a.csv": text });
		const sources = [await openMeds(folder), await openMeds(join(folder, "a.csv"))];
		const files = sources.flatMap(({ files = [] }) => files);
		await withStore({ memory: 2 ** 28, threads: 1, files }, async (store) => {
			for (const source of sources) await source.load(store);
			const tables = await store.all("SELECT name FROM (SHOW ALL TABLES) ORDER BY name");
			const kept = ["code_name", "observation", "person", "record", "stored_record"];
			expect(tables.map(({ name }) => name)).toEqual(kept);
		});
	});
});

const good = "1,2020-01-01,ICD9CM/250";
const data = `data/0.parquet: ${rows(good)}`;
const splits = (values: string) =>
	`${data} | metadata/subject_splits.parquet: SELECT * FROM (VALUES ${values}) t(subject_id, split)`;
const time = "TIMESTAMP '2020-01-01' AS time";
const header = String.raw`a.csv: subject_id,time,code\n`;
const refusals = String.raw`
no subject | ${data} | data/1.parquet: ${rows(good, ",2020-01-01,x")} | refused: data/1.parquet: row 2 has no subject_id
no code | data/0.parquet: ${rows(good, "1,2020-01-01,")} | refused: 0.parquet: row 2 has no code
no code beside a column file_row_number | data/0.parquet: SELECT *, 7 AS file_row_number FROM (${rows(good, "1,2020-01-01,")}) | refused: 0.parquet: row 2 has no code
an empty code | data/0.parquet: ${rows(good, good, "1,2020-01-01, ")} | refused: row 3 has no code
an empty subject | data/0.parquet: SELECT ' ' AS subject_id, ${time}, 'x' AS code | refused: row 1 has no subject_id
a time that is none | data/0.parquet: SELECT 1 AS subject_id, '2020-13-01' AS time, 'x' AS code | refused: 0.parquet: row 1: time is "2020-13-01"; expected an ISO date
an endless time | data/0.parquet: SELECT 1 AS subject_id, 'infinity'::TIMESTAMP AS time, 'x' AS code | refused: row 1: time is "infinity"
a time of the year 1 | data/0.parquet: SELECT 1 AS subject_id, '0001-02-20 10:00' AS time, 'x' AS code | refused: row 1: time is "0001-02-20 10:00"; expected an ISO date or timestamp such as 2020-01-31T12:00:00, or empty for records without a time; expected a year between 1800 and 2300
a timestamp of the year 9999 | data/0.parquet: SELECT 1 AS subject_id, TIMESTAMP '9999-12-31' AS time, 'x' AS code | refused: row 1: time is "9999-12-31 00:00:00"; expected
a time of two digits | data/0.parquet: SELECT 1 AS subject_id, '1/2/20' AS time, 'x' AS code | refused: row 1: time is "1/2/20"; expected
a time of numbers | data/0.parquet: SELECT 1 AS subject_id, 18262 AS time, 'x' AS code | refused: column time is INTEGER; expected timestamps
subjects of fractions | data/0.parquet: SELECT 1.5::DOUBLE AS subject_id, ${time}, 'x' AS code | refused: column subject_id is DOUBLE; expected whole numbers
codes of numbers | data/0.parquet: SELECT 1 AS subject_id, ${time}, 7 AS code | refused: column code is INTEGER; expected text
values of lists | data/0.parquet: SELECT 1 AS subject_id, ${time}, 'x' AS code, [1] AS numeric_value | refused: column numeric_value is INTEGER[]; expected numbers
a value of text | data/0.parquet: SELECT 1 AS subject_id, ${time}, 'x' AS code, 'high' AS numeric_value | refused: row 1: numeric_value is not a number
no column of times | ${data} | data/1.parquet: SELECT 1 AS subject_id, 'x' AS code | refused: data/1.parquet has no column time; it has subject_id, code; expected the columns of MEDS
no rows | data/0.parquet: ${rows(good)} WHERE false | refused: contains no rows
other kinds only | data/0.parquet: ${rows("1,2020-01-01,LAB//1")} | refused: contains no record of kind diagnosis or drug with a time: 1 rows are of other kinds, 0 have no time; pass ${"`kinds`"} diagnosis,drug,procedure,laboratory,other
no times | data/0.parquet: ${rows("1,,ICD9CM/250")} | refused: 0 rows are of other kinds, 1 have no time
another split | ${splits("(1, 'train'), (2, 'dev')")} | refused: metadata/subject_splits.parquet: row 2 has split "dev"; expected train, tuning, held_out: rename it, or pass ${"`ignoreSplits`"}
no split | ${splits("(1, NULL::VARCHAR)")} | refused: row 1 has split null
no subject in splits | ${splits("(NULL::BIGINT, 'train')")} | refused: row 1 has no subject_id
a subject twice in splits | ${splits("(1, 'train'), (2, 'train'), (1, 'train')")} | refused: splits.parquet: row 3 gives subject 1 a second time, after & splits.parquet: row 1;
splits without splits | ${data} | metadata/subject_splits.parquet: SELECT 1 AS subject_id | refused: subject_splits.parquet has no column split
codes without codes | ${data} | metadata/codes.parquet: SELECT 'x' AS description | refused: codes.parquet has no column code
no shard | data/train/._0.parquet: SELECT 1 AS subject_id | refused: data holds no .parquet file
no data | notes.txt: nothing | refused: has no data folder and no .parquet file
no kind | ${data} | {"kinds": []} | refused: no kind of record
empty text | a.csv: | refused: a.csv is empty
text without rows | ${header} | refused: contains no rows
text without subjects | a.csv: subject,time,code\n1,2020-01-01,x\n | refused: has no column subject_id; it has subject, time, code
a time in text | ${header}1,2020-01-01,ICD9CM/250\n\n1,soon,x\n | refused: a.csv: line 4: time is "soon"
no subject in text | ${header}1,2020-01-01,ICD9CM/250\n,2020-01-01,x\n | refused: line 3 has no subject_id
an open quote | ${header}1,2020-01-01,"x\n | refused: a.csv: line 2
a short line | ${header}1,2020-01-01\n | refused: a.csv: line 2 has 2 fields
`;

describe("openMeds rejects", () => {
	test.each(formatCases(refusals))("%s", (_, cells) => checkCase(cells, openMeds));

	test("text that is not UTF-8, and a path that does not exist", async () => {
		const bytes = Buffer.from("subject_id,time,code\n1,2020-01-01,\xff\n", "latin1");
		await refused(meds(join(await folderOf({ "a.csv": bytes }), "a.csv")), "not UTF-8");
		await refused(openMeds("/nowhere/at/all"), "no such file or folder");
	});

	test("or reads text with random changes", async () => {
		const file = join(await temporaryFolder(), "a.csv");
		const whole = 'subject_id,time,code\n1,2020-01-01,ICD9CM/250\n2,,"GENDER//F"\n';
		const piece = fc.constantFrom('"', ",", "\n", "\r\n", "\0", "é", "//", "MEDS_BIRTH", ";", "\t");
		const changes = fc.array(fc.tuple(fc.nat(whole.length), fc.nat(3), piece), { maxLength: 4 });
		await fc.assert(
			fc.asyncProperty(changes, async (list) => {
				let text = whole;
				for (const [at, gone, more] of list)
					text = text.slice(0, at) + more + text.slice(at + gone);
				await writeFile(file, text);
				await meds(file).catch((error) => {
					expect(error).toBeInstanceOf(InputError);
					expect(error.message).not.toMatch(/Error:|LINE \d/);
				});
			}),
			{ numRuns: 15 },
		);
	});

	test("damaged shards by name, whatever the damage", async () => {
		const folder = await folderOf({
			"data/0.parquet": rows(good),
			"data/1.parquet":
				"SELECT i AS subject_id, TIMESTAMP '2020-01-01' + to_days(i::INT) AS time, 'ICD9CM/' || (i % 50) AS code FROM range(500) t(i)",
		});
		const shard = join(folder, "data/1.parquet");
		const whole = await readFile(shard);
		const broken = fc.tuple(
			fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
			fc.option(fc.nat(whole.length - 1), { freq: 3 }),
		);
		const seen = { read: 0, refused: 0 };
		await fc.assert(
			fc.asyncProperty(broken, async ([changes, end]) => {
				const bytes = Buffer.from(whole);
				for (const [at, byte] of changes) bytes[at] = byte;
				await writeFile(shard, bytes.subarray(0, end ?? bytes.length));
				try {
					await meds(folder);
					seen.read++;
				} catch (error) {
					expect(error).toBeInstanceOf(InputError);
					expect((error as Error).message).toContain("1.parquet");
					expect((error as Error).message).not.toMatch(/Error:|LINE \d/);
					seen.refused++;
				}
			}),
			{ numRuns: 15 },
		);
		expect(seen.refused).toBeGreaterThan(0);
		await writeFile(shard, "not Parquet");
		await expect(meds(folder)).rejects.toThrow("1.parquet is not a Parquet file despite its name");
	});
});

const real = new URL("../../../../../shared/data/mimic4_demo_meds/", import.meta.url).pathname;
describe.skipIf(!existsSync(real))("MIMIC-IV's demo", () => {
	test("has a hundred patients and the expected diagnoses", async () => {
		const { records, people, notes } = await meds(join(real, "mimic_iv_demo_meds_events.parquet"));
		expect(new Set(people.map(({ patient }) => patient)).size).toBe(100);
		const count = (test: (person: (typeof people)[number]) => boolean) =>
			people.filter(test).length;
		expect(count(({ birth }) => birth !== null)).toBe(100);
		expect(count(({ death }) => death !== null)).toBe(31);
		expect(count(({ sex }) => sex === "female")).toBe(43);
		expect(count(({ sex }) => sex === "male")).toBe(57);
		expect(notes).toEqual([
			"875321 rows of other kinds than diagnosis and drug left out; see --kinds",
		]);
		const bySystem = (system: string) => records.filter((row) => row.system === system);
		expect([bySystem("ICD9CM").length, bySystem("ICD10CM").length]).toEqual([2193, 2313]);
		// MEDICATION//START//… and MEDICATION//…//Administered, without UNK
		const drugs = records.filter(({ kind }) => kind === "drug");
		expect(drugs.length).toBe(13_169 + 22_939);
		expect(new Set(drugs.map(({ system }) => system))).toEqual(new Set(["Name"]));
		expect(new Set(drugs.map(({ code }) => code)).size).toBe(595);
		expect(drugs.filter(({ code }) => code === "Insulin").length).toBe(950 + 1547);
		const diagnoses = records.filter(({ kind }) => kind === "diagnosis");
		expect(diagnoses.length).toBe(2193 + 2313);
		const extracted = await meds(join(real, "diagnoses_extracted.csv"));
		expect(extracted.records).toEqual(diagnoses);
		expect(diagnoses[0]).toEqual({
			patient: "10000032",
			time: Date.parse("2180-05-07T17:15:00Z") / 86_400_000,
			code: "496",
			system: "ICD9CM",
			kind: "diagnosis",
			value: null,
		});
	});
});
