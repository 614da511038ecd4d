import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { recordKinds } from "../rows.js";
import { quoted } from "../sql.js";
import { openStore } from "../store.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { writeParquet } from "../testing/write-parquet.js";
import type { MedsOptions } from "./index.js";
import { openMeds } from "./index.js";

const meds = async (path: string, options?: MedsOptions) => load(await openMeds(path, options));

/** Writes Parquet files into a folder: their paths in it, and queries for what they hold. */
async function dataset(files: Record<string, string>): Promise<string> {
	const folder = await temporaryFolder();
	for (const [name, query] of Object.entries(files)) {
		await mkdir(dirname(join(folder, name)), { recursive: true });
		await writeParquet(join(folder, name), query);
	}
	return folder;
}

type Row = readonly [
	subject: number | null,
	time: string | null,
	code: string | null,
	value?: number,
];

const literal = (text: string | null) => (text === null ? "NULL" : quoted(text));

/** A query for rows of the standard's own types. */
const rows = (...list: Row[]): string =>
	`SELECT subject_id::BIGINT AS subject_id, time::TIMESTAMP AS time, code::VARCHAR AS code, value::FLOAT AS numeric_value
	FROM (VALUES ${list.map(([subject, time, code, value]) => `(${subject}, ${literal(time)}, ${literal(code)}, ${value ?? "NULL"})`).join(", ")}) t(subject_id, time, code, value)`;

const two = {
	"data/train/0.parquet": rows(
		[7, null, "GENDER//F"],
		[7, "1970-01-02", "MEDS_BIRTH"],
		[7, "2020-01-01 12:00:00", "DIAGNOSIS//ICD//9//5715"],
		[7, "2020-01-01 12:00:00", "LAB//50912//mg/dL", 1.5],
		[7, "2019-01-01", "RxNorm/197361", 2],
		[7, "2021-01-01", "MEDS_DEATH"],
	),
	"data/held_out/0.parquet": rows(
		[8, null, "GENDER//M"],
		[8, "2020-01-01", "ICD10CM//I50.9"],
		[8, null, "ICD10CM//I50.9"],
		[9, "2020-01-02", "ICD10CM//I50.9"],
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
		const folder = await dataset(two);
		const { axis, notes, records, people, names } = await meds(folder);
		expect(axis).toBe("dates");
		const common = { kind: "diagnosis", value: null };
		expect(records).toEqual([
			{ patient: "8", time: 18262, code: "I50.9", system: "ICD10CM", ...common },
			{ patient: "9", time: 18263, code: "I50.9", system: "ICD10CM", ...common },
			{ patient: "7", time: 18262.5, code: "5715", system: "ICD9CM", ...common },
			{ patient: "7", time: 17897, code: "197361", system: "RxNorm", kind: "drug", value: 2 },
		]);
		const nothing = { birth: null, sex: null, death: null, split: null };
		const held = join(folder, "data/held_out/0.parquet");
		const train = join(folder, "data/train/0.parquet");
		expect(people).toEqual([
			{ ...nothing, patient: "8", split: "test", place: `${held}: row 1` },
			{ ...nothing, patient: "9", place: `${held}: row 4` },
			{ ...nothing, patient: "8", sex: "male", place: `${held}: row 1` },
			{ ...nothing, patient: "7", split: "train", place: `${train}: row 1` },
			{ ...nothing, patient: "7", sex: "female", place: `${train}: row 1` },
			{ ...nothing, patient: "7", birth: 1, place: `${train}: row 2` },
			{ ...nothing, patient: "7", death: 18628, place: `${train}: row 6` },
		]);
		expect(names).toEqual([
			{ system: "ICD9CM", code: "5715", name: "Cirrhosis", category: null, kind: null },
			{ system: "ICD10CM", code: "I50.9", name: "Heart failure", category: null, kind: null },
		]);
		expect(notes).toEqual([
			"1 rows of other kinds than diagnosis and drug left out; see --kinds",
			"1 rows without a time left out",
			`1 subjects have no split in ${join(folder, "metadata/subject_splits.parquet")}: they are split by a hash of their id`,
		]);
	});

	test("accepts the data folder, a single file, and other kinds", async () => {
		const folder = await dataset(two);
		for (const path of [join(folder, "data"), `${join(folder, "data")}/`])
			expect(await meds(path)).toEqual(await meds(folder));
		const alone = await meds(join(folder, "data/train/0.parquet"), { kinds: ["laboratory"] });
		expect(alone.records).toEqual([
			{
				patient: "7",
				time: 18262.5,
				code: "LAB//50912//mg/dL",
				system: "MEDS",
				kind: "laboratory",
				value: 1.5,
			},
		]);
		expect(alone.people.map(({ split }) => split)).toEqual([null, null, null, null]);
		expect(alone.notes).toEqual(["2 rows of other kinds than laboratory left out; see --kinds"]);
		const all = await meds(folder, { kinds: recordKinds });
		expect(all.records.length).toBe(5);
		expect(all.names.map(({ name }) => name)).toEqual(["Cirrhosis", "Heart failure", "Creatinine"]);
	});

	test("ignores splits on request, and notes missing metadata", async () => {
		const folder = await dataset(two);
		const ignored = await meds(folder, { splits: "ignore" });
		expect(new Set(ignored.people.map(({ split }) => split))).toEqual(new Set([null]));
		expect(ignored.notes.join()).not.toContain("split");
		const bare = await dataset({ "data/0.parquet": two["data/train/0.parquet"] });
		expect((await meds(bare)).notes.slice(1)).toEqual([
			"no metadata/codes.parquet: codes have no names",
			"no metadata/subject_splits.parquet: patients are split by a hash of their id",
		]);
	});

	test("keeps every birth, death and sex of a subject, for later comparison", async () => {
		const folder = await dataset({
			"0.parquet": rows(
				[1, "1970-01-02", "MEDS_BIRTH"],
				[1, "1970-01-02", "MEDS_BIRTH"],
				[1, "1970-01-03", "MEDS_BIRTH//x"],
				[1, null, "MEDS_DEATH"],
				[1, null, "SEX//F"],
				[1, "2020-01-01", "SEX//M"],
				[1, null, "SEX//UNK"],
				[1, "2020-01-01", "ICD9CM/250"],
			),
		});
		const { people, notes } = await meds(folder);
		expect(people.map(({ birth, sex, death }) => [birth, sex, death])).toEqual([
			[null, null, null],
			[1, null, null],
			[2, null, null],
			[null, "female", null],
			[null, "male", null],
		]);
		expect(notes[0]).toBe("1 rows give a sex that is neither female nor male");
	});

	test("reads CSV, packed or not, and types other than the standard's", async () => {
		const folder = await temporaryFolder();
		const text =
			'\ufeffsubject_id,time,code,numeric_value,text_value\r\na 1,2020-01-01T12:00:00.000Z,ICD9CM/250,3.5,"x, ""y""\n"\r\na 1,,GENDER//F,,\r\n007,20200102,ICD9CM/251,nan,\r\n';
		await writeFile(join(folder, "a.csv"), text);
		await writeFile(join(folder, "b.csv.gz"), gzipSync(text));
		const { records, people } = await meds(join(folder, "a.csv"));
		expect(records.map(({ patient, time, code, value }) => [patient, time, code, value])).toEqual([
			["a 1", 18262.5, "250", 3.5],
			["007", 18263, "251", null],
		]);
		expect(people.map(({ patient, sex }) => [patient, sex])).toEqual([
			["a 1", null],
			["007", null],
			["a 1", "female"],
		]);
		expect((await meds(join(folder, "b.csv.gz"))).records).toEqual(records);
		const odd = await dataset({
			"text.parquet":
				"SELECT ' 5 ' AS Subject_ID, '2020-01-01' AS \"Time\", 'ICD9CM/250' AS code, 1.5::DOUBLE AS value",
			"older.parquet":
				"SELECT 5::UTINYINT AS patient_id, DATE '2020-01-01' AS time, 'ICD9CM/250'::BLOB AS code, 'x' AS value",
			"zone.parquet":
				"SELECT 5::INT AS subject_id, TIMESTAMPTZ '2020-01-01 06:00:00+06' AS time, 'ICD9CM/250' AS code, 3 AS numeric_value",
			"nano.parquet":
				"SELECT 5::HUGEINT::BIGINT AS subject_id, TIMESTAMP_NS '2020-01-01' AS time, 'ICD9CM/250' AS code, 'inf'::FLOAT AS numeric_value",
		});
		const all = await meds(odd);
		expect(all.records.map(({ patient, time, value }) => [patient, time, value])).toEqual([
			["5", 18262, null],
			["5", 18262, null],
			["5", 18262, 1.5],
			["5", 18262, 3],
		]);
	});

	test("keeps the order of rows for any number of shards, row groups and threads", async () => {
		const query = (from: number, to: number) =>
			`SELECT i // 7 AS subject_id, TIMESTAMP '2020-01-01' + to_days((hash(i) % 900)::INT) AS time,
			'ICD9CM/' || (hash(i) % 999) || repeat(' ', (i % 3)::INT) AS code, i::DOUBLE AS numeric_value FROM range(${from}, ${to}) t(i)`;
		const folder = await dataset({
			"data/a.parquet": query(0, 300_000),
			"data/b.parquet": query(300_000, 310_000),
		});
		const source = await openMeds(folder);
		const store = await openStore({
			folder: await temporaryFolder(),
			memory: 2 ** 28,
			threads: 4,
			files: source.files,
		});
		try {
			await source.load(store);
			expect(
				await store.all(
					"SELECT count(*) AS n, count(*) FILTER (value = row - 1) AS kept, count(DISTINCT code) AS codes FROM record",
				),
			).toEqual([{ n: 310_000, kept: 310_000, codes: 999 }]);
		} finally {
			store.close();
		}
	});

	test("keeps many codes, long codes and odd codes unchanged", async () => {
		const folder = await dataset({
			"0.parquet": `SELECT 1 AS subject_id, TIMESTAMP '2020-01-01' AS time, code FROM (
				SELECT 'c' || i AS code FROM range(25000) t(i) UNION ALL SELECT repeat('é', 100000)
				UNION ALL SELECT 'it''s "x" \\ ' || chr(1) || chr(10) || '{}' UNION ALL SELECT ' x ' UNION ALL SELECT '💊//\\u0041')`,
		});
		const { records } = await meds(folder, { kinds: ["other"] });
		expect(records.length).toBe(25_004);
		const codes = new Set(records.map(({ code }) => code));
		expect(codes.size).toBe(25_004);
		for (const code of [
			"c24999",
			"é".repeat(100_000),
			`it's "x" \\ \u0001\n{}`,
			" x ",
			"💊//\\u0041",
		])
			expect(codes).toContain(code);
	});

	test("reads a file with a column named file_row_number", async () => {
		const own = (list: string) => `SELECT *, 7 AS file_row_number FROM (${list})`;
		const good = rows([1, "2020-01-02", "ICD9CM/250"], [1, "2020-01-01", "ICD9CM/401"]);
		const { records } = await meds(await dataset({ "data/0.parquet": own(good) }));
		expect(records.map(({ code }) => code)).toEqual(["250", "401"]);
		const bad = rows([1, "2020-01-02", "ICD9CM/250"], [1, "2020-01-01", null]);
		await expect(meds(await dataset({ "data/0.parquet": own(bad) }))).rejects.toThrow(
			"0.parquet: row 2 has no code",
		);
	});

	test("leaves no temporary tables in the store", async () => {
		const csv = join(await temporaryFolder(), "a.csv");
		await writeFile(csv, "subject_id,time,code\n1,2020-01-01,ICD9CM/250\n");
		const sources = [await openMeds(await dataset(two)), await openMeds(csv)];
		const store = await openStore({
			folder: await temporaryFolder(),
			memory: 2 ** 28,
			threads: 1,
			files: sources.flatMap(({ files = [] }) => files),
		});
		try {
			for (const source of sources) await source.load(store);
			expect(await store.all("SELECT name FROM (SHOW ALL TABLES) ORDER BY name")).toEqual([
				{ name: "code_name" },
				{ name: "observation" },
				{ name: "person" },
				{ name: "record" },
				{ name: "stored_record" },
			]);
		} finally {
			store.close();
		}
	});
});

describe("openMeds rejects", () => {
	const good: Row = [1, "2020-01-01", "ICD9CM/250"];
	const splits = (values: string) => ({
		"data/0.parquet": rows(good),
		"metadata/subject_splits.parquet": `SELECT * FROM (VALUES ${values}) t(subject_id, split)`,
	});
	const columns = (select: string) => ({ "data/0.parquet": `SELECT ${select}` });
	const time = "TIMESTAMP '2020-01-01' AS time";

	test.each<[string, Record<string, string>, string | RegExp]>([
		[
			"no subject",
			{ "data/0.parquet": rows(good), "data/1.parquet": rows(good, [null, "2020-01-01", "x"]) },
			"data/1.parquet: row 2 has no subject_id",
		],
		[
			"no code",
			{ "data/0.parquet": rows(good, [1, "2020-01-01", null]) },
			"0.parquet: row 2 has no code",
		],
		[
			"empty code",
			{ "data/0.parquet": rows(good, good, [1, "2020-01-01", " "]) },
			"row 3 has no code",
		],
		[
			"empty subject",
			columns(`' ' AS subject_id, ${time}, 'x' AS code`),
			"row 1 has no subject_id",
		],
		[
			"a time that is none",
			columns("1 AS subject_id, '2020-13-01' AS time, 'x' AS code"),
			'0.parquet: row 1: time is "2020-13-01"; expected an ISO date',
		],
		[
			"an endless time",
			columns("1 AS subject_id, 'infinity'::TIMESTAMP AS time, 'x' AS code"),
			'row 1: time is "infinity"',
		],
		[
			"a time of the year 1",
			columns("1 AS subject_id, '0001-02-20 10:00' AS time, 'x' AS code"),
			'row 1: time is "0001-02-20 10:00"; expected an ISO date or timestamp such as 2020-01-31T12:00:00, or empty for records without a time; expected a year between 1800 and 2300',
		],
		[
			"a timestamp of the year 9999",
			columns("1 AS subject_id, TIMESTAMP '9999-12-31' AS time, 'x' AS code"),
			'row 1: time is "9999-12-31 00:00:00"; expected',
		],
		[
			"a time of two digits",
			columns("1 AS subject_id, '1/2/20' AS time, 'x' AS code"),
			'row 1: time is "1/2/20"; expected',
		],
		[
			"a time of numbers",
			columns("1 AS subject_id, 18262 AS time, 'x' AS code"),
			"column time is INTEGER; expected timestamps",
		],
		[
			"subjects of fractions",
			columns(`1.5::DOUBLE AS subject_id, ${time}, 'x' AS code`),
			"column subject_id is DOUBLE; expected whole numbers",
		],
		[
			"codes of numbers",
			columns(`1 AS subject_id, ${time}, 7 AS code`),
			"column code is INTEGER; expected text",
		],
		[
			"values of lists",
			columns(`1 AS subject_id, ${time}, 'x' AS code, [1] AS numeric_value`),
			"column numeric_value is INTEGER[]; expected numbers",
		],
		[
			"a value of text",
			columns(`1 AS subject_id, ${time}, 'x' AS code, 'high' AS numeric_value`),
			"row 1: numeric_value is not a number",
		],
		[
			"no time column",
			{ "data/0.parquet": rows(good), "data/1.parquet": "SELECT 1 AS subject_id, 'x' AS code" },
			"data/1.parquet has no column time; it has subject_id, code; expected the columns of MEDS",
		],
		["no rows", { "data/0.parquet": `${rows(good)} WHERE false` }, "contains no rows"],
		[
			"other kinds only",
			{ "data/0.parquet": rows([1, "2020-01-01", "LAB//1"]) },
			"contains no record of kind diagnosis or drug with a time: 1 rows are of other kinds, 0 have no time; pass `kinds` diagnosis,drug,procedure,laboratory,other",
		],
		[
			"no times",
			{ "data/0.parquet": rows([1, null, "ICD9CM/250"]) },
			"0 rows are of other kinds, 1 have no time",
		],
		[
			"another split",
			splits("(1, 'train'), (2, 'dev')"),
			'metadata/subject_splits.parquet: row 2 has split "dev"; expected train, tuning, held_out: rename it, or pass `ignoreSplits`',
		],
		["no split", splits("(1, NULL::VARCHAR)"), "row 1 has split null"],
		["no subject in splits", splits("(NULL::BIGINT, 'train')"), "row 1 has no subject_id"],
		[
			"a subject twice in splits",
			splits("(1, 'train'), (2, 'train'), (1, 'train')"),
			/splits\.parquet: row 3 gives subject 1 a second time, after .*splits\.parquet: row 1;/,
		],
		[
			"splits without splits",
			{ "data/0.parquet": rows(good), "metadata/subject_splits.parquet": "SELECT 1 AS subject_id" },
			"subject_splits.parquet has no column split",
		],
		[
			"codes without codes",
			{ "data/0.parquet": rows(good), "metadata/codes.parquet": "SELECT 'x' AS description" },
			"codes.parquet has no column code",
		],
	])("%s", async (_, files, message) => {
		const failing = meds(await dataset(files));
		await expect(failing).rejects.toThrow(InputError);
		await expect(failing).rejects.toThrow(message);
	});

	test("folders without the expected files", async () => {
		await expect(openMeds("/nowhere/at/all")).rejects.toThrow("no such file or folder");
		const folder = await temporaryFolder();
		await expect(openMeds(folder)).rejects.toThrow("has no data folder and no .parquet file");
		await mkdir(join(folder, "data/train"), { recursive: true });
		await writeFile(join(folder, "data/train/._0.parquet"), "");
		await expect(openMeds(folder)).rejects.toThrow("data holds no .parquet file");
		await expect(openMeds(folder, { kinds: [] })).rejects.toThrow("no kind of record");
	});

	test.each([
		["", "a.csv is empty"],
		["subject_id,time,code\n", "contains no rows"],
		["subject,time,code\n1,2020-01-01,x\n", "has no column subject_id; it has subject, time, code"],
		[
			"subject_id,time,code\n1,2020-01-01,ICD9CM/250\n\n1,soon,x\n",
			'a.csv: line 4: time is "soon"',
		],
		["subject_id,time,code\n1,2020-01-01,ICD9CM/250\n,2020-01-01,x\n", "line 3 has no subject_id"],
		['subject_id,time,code\n1,2020-01-01,"x\n', "a.csv: line 2"],
		["subject_id,time,code\n1,2020-01-01\n", "a.csv: line 2 has 2 fields"],
		["subject_id,time,code\n1,2020-01-01,\xff\n", "not UTF-8"],
	])("text such as %j", async (text, message) => {
		const file = join(await temporaryFolder(), "a.csv");
		await writeFile(file, Buffer.from(text, "latin1"));
		const failing = meds(file);
		await expect(failing).rejects.toThrow(InputError);
		await expect(failing).rejects.toThrow(message);
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
		const folder = await dataset({
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
