import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../../base/errors.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { writeParquet } from "../testing/write-parquet.js";
import { openCsv, openParquetRecords, type TableOptions } from "./index.js";

type Files = Readonly<Record<string, string | Uint8Array>>;

async function folderOf(files: Files): Promise<string> {
	const folder = await temporaryFolder();
	for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
	return folder;
}

/** Reads `main` of some files, or all of them; options that name a file of them get its path. */
async function read(files: Files, options: TableOptions = {}, main?: string) {
	const folder = await folderOf(files);
	const placed = Object.entries(options).map(([name, value]) => [
		name,
		typeof value === "string" && value in files ? join(folder, value) : value,
	]);
	return load(await openCsv(main ? join(folder, main) : folder, Object.fromEntries(placed)));
}

const csv = (content: string | Uint8Array, options: TableOptions = {}) =>
	read({ "a.csv": content }, options, "a.csv");

const short = (rows: readonly object[]) => rows.map((row) => Object.values(row));

async function refused(work: Promise<unknown>, ...messages: string[]): Promise<void> {
	const error = await work.then(
		() => undefined,
		(error) => error,
	);
	expect(error).toBeInstanceOf(InputError);
	for (const message of messages) expect(error.message).toContain(message);
}

const simulated: Files = {
	"claims.csv": "patient,date,icd9\nb,2020-01-02,25000\na,2020-01-01,4019\nb,1970-01-02,V270\n",
	"prescriptions.csv":
		"patient,date,drug,atc,days_supply\na,2020-01-03,Metformin,A10BA02,30\nb,2020-01-03,metformin,A10BA02,30\nb,2020-01-04,Metformin,A10BA02,30\n",
	"people.csv": "patient,sex,birth,death\na,F,1960-01-01,\nb,male,1970-01-02,2020-06-01\nc,,,\n",
	"coverage.csv": "patient,from,to\na,2019-01-01,2020-12-31\n",
	"truth.json": "{}",
};

describe("tables of records", () => {
	test("reads a folder with claims, prescriptions and people without options", async () => {
		const { axis, notes, records, people, names } = await read(simulated);
		expect(axis).toBe("dates");
		expect(short(records)).toEqual([
			["b", 18263, "25000", "ICD9CM", "diagnosis", null],
			["a", 18262, "4019", "ICD9CM", "diagnosis", null],
			["b", 1, "V270", "ICD9CM", "diagnosis", null],
			["a", 18264, "A10BA02", "ATC", "drug", null],
			["b", 18264, "A10BA02", "ATC", "drug", null],
			["b", 18265, "A10BA02", "ATC", "drug", null],
		]);
		expect(people.map(({ place: _, ...person }) => Object.values(person))).toEqual([
			["a", -3653, "female", null, null],
			["b", 1, "male", 18414, null],
			["c", null, null, null, null],
		]);
		expect(people[1]?.place).toMatch(/people\.csv: row 2$/);
		expect(names).toEqual([
			{ system: "ATC", code: "A10BA02", name: "Metformin", category: null, kind: null },
		]);
		expect(notes).toContain("left alone in the folder: coverage.csv, truth.json");
		expect(notes.join()).toContain("time is date (date), code is icd9 (ICD9CM)");
	});

	test("reads the same from Parquet, with typed dates and numbers", async () => {
		const folder = await temporaryFolder();
		await writeParquet(
			join(folder, "claims.parquet"),
			"SELECT * FROM (VALUES (7, DATE '2020-01-02', '25000'), (8, DATE '2020-01-01', NULL)) t(patient, date, icd9)",
		);
		await writeParquet(
			join(folder, "prescriptions.parquet"),
			"SELECT 7::DOUBLE AS patient, TIMESTAMPTZ '2020-01-03 12:00:00+00' AS date, 'x' AS drug, 406::BIGINT AS rxnorm",
		);
		await writeParquet(
			join(folder, "people.parquet"),
			"SELECT 7::UTINYINT AS patient, 8532 AS gender_concept_id, TIMESTAMP '1970-01-02' AS birth_datetime, NULL::DATE AS death",
		);
		const { records, people, notes } = await load(await openParquetRecords(folder));
		expect(short(records)).toEqual([
			["7", 18263, "25000", "ICD9CM", "diagnosis", null],
			["7", 18264.5, "406", "RxNorm", "drug", null],
		]);
		expect(people.map(({ place: _, ...person }) => Object.values(person))).toEqual([
			["7", 1, "female", null, null],
		]);
		expect(notes.join()).toContain("1 row has no code: left out");
	});

	test("finds columns regardless of case, and systems by row", async () => {
		const { records } = await csv(
			"SUBJECT_ID;Chartdate;ICD_CODE;ICD_VERSION\n1;2020-01-01;4019;9\n1;2020-01-01;I10; 10 \n",
		);
		expect(short(records)).toEqual([
			["1", 18262, "4019", "ICD9CM", "diagnosis", null],
			["1", 18262, "I10", "ICD10CM", "diagnosis", null],
		]);
	});

	test("makes a record of every field of several columns of codes", async () => {
		const claims =
			"DESYNPUF_ID,CLM_FROM_DT,ADMTNG_ICD9_DGNS_CD,ICD9_DGNS_CD_1,ICD9_DGNS_CD_2,ICD9_PRCDR_CD_1\n" +
			"b,20080302,4280,4280,25000,3722\na,20080101,,4019,NA,\nb,20080401,,,,\nb,20080402,, 41401 ,4019,\n";
		const wide = await csv(claims, { code: "icd9_dgns_cd_*" });
		expect(short(wide.records)).toEqual([
			["b", 13940, "4280", "ICD9CM", "diagnosis", null],
			["b", 13940, "25000", "ICD9CM", "diagnosis", null],
			["a", 13879, "4019", "ICD9CM", "diagnosis", null],
			["b", 13971, "41401", "ICD9CM", "diagnosis", null],
			["b", 13971, "4019", "ICD9CM", "diagnosis", null],
		]);
		expect(wide.notes[0]).toMatch(/code is ICD9_DGNS_CD_1 and ICD9_DGNS_CD_2 \(ICD9CM\)$/);
		expect(wide.notes[1]).toMatch(/a\.csv: 1 row has no code: left out/);

		const both = await csv(claims, { code: ["*PRCDR_CD*", "ICD9_DGNS_CD_1", "*_1"] });
		expect(both.records.map(({ code, system, kind }) => [code, system, kind])).toEqual([
			["3722", "ICD9Proc", "procedure"],
			["4280", "ICD9CM", "diagnosis"],
			["4019", "ICD9CM", "diagnosis"],
			["41401", "ICD9CM", "diagnosis"],
		]);
		expect(both.notes[0]).toContain("(ICD9Proc and ICD9CM)");
		const forced = await csv(claims, { code: "ICD9_DGNS_CD_*", system: "icd10" });
		expect(forced.records.every(({ system }) => system === "ICD10CM")).toBe(true);
		await refused(csv(claims, { code: "ICD8_*" }), 'no column matches "ICD8_*" (`code`)');
		await refused(
			csv(claims.replace("20080402", "soon"), { code: "ICD9_DGNS_CD_*" }),
			'a.csv: line 5: CLM_FROM_DT is "soon"',
		);
	});

	test("keeps the order of several columns of codes in a join", async () => {
		const rows = Array.from({ length: 200 }, (_, at) => `${at % 3},${100 + at},${400 + at}`);
		const { records } = await read(
			{
				"dx.csv": `stay,dx_1,dx_2\n${rows.join("\n")}\n`,
				"stays.csv": "stay,patient,date\n0,p,2020-01-01\n1,p,2020-01-02\n2,q,2020-01-03\n",
			},
			{ code: "dx_*", system: "icd9", join: "stays.csv", on: "stay" },
			"dx.csv",
		);
		expect(records.map(({ code }) => code)).toEqual(rows.flatMap((row) => row.split(",").slice(1)));
		await refused(
			read(
				{
					"dx.csv": "stay,dx_1\n0,4019\n",
					"stays.csv": "stay,patient,date,dx_2\n0,p,2020-01-01,1\n",
				},
				{ code: "dx_*", system: "icd9", join: "stays.csv", on: "stay" },
				"dx.csv",
			),
			"dx_2 is a column of",
			"where a row has several codes, expected all in",
		);
	});

	test("reads several files of people and of drugs", async () => {
		const folder = await folderOf({
			"a.csv": "patient,date,icd9\n1,2020-01-01,4019\n2,2020-01-01,4019\n",
			"p8.csv": "patient,sex,birth\n1,F,1950-01-01\n",
			"p9.csv": "patient,sex,death\n1,F,2021-01-01\n2,M,\n",
			"d1.csv": "patient,date,atc\n1,2020-01-01,A10BA02\n",
			"d2.csv": "patient,date,drug\n2,2020-01-01,Insulin\n",
		});
		const at = (name: string) => join(folder, name);
		const files = { people: [at("p8.csv"), at("p9.csv")], drugsFile: [at("d1.csv"), at("d2.csv")] };
		const { records, people } = await load(await openCsv(at("a.csv"), files));
		expect(records.slice(2).map(({ code, system }) => [code, system])).toEqual([
			["A10BA02", "ATC"],
			["Insulin", "Name"],
		]);
		expect(people.map(({ patient, sex }) => [patient, sex])).toEqual([
			["1", "female"],
			["1", "female"],
			["2", "male"],
		]);
		await refused(
			openCsv(at("a.csv"), { people: [at("p8.csv"), at("p8.csv")] }).then(load),
			"p8.csv is given twice",
		);
	});

	test("finds CMS's and MIMIC-IV's columns of people", async () => {
		const main = { "a.csv": "patient,date,icd9\n1,2008-01-01,4019\n" };
		const cms = await read(
			{
				...main,
				"b.csv":
					"DESYNPUF_ID,BENE_BIRTH_DT,BENE_DEATH_DT,BENE_SEX_IDENT_CD\n1,19230501,,1\n2,19430101,20090801,2\n",
			},
			{ people: "b.csv" },
			"a.csv",
		);
		expect(short(cms.people).map((row) => row.slice(0, 4))).toEqual([
			["1", -17047, "male", null],
			["2", -9862, "female", 14457],
		]);
		expect(cms.notes.at(-1)).toMatch(
			/b\.csv: 2 people; patient is DESYNPUF_ID, sex is BENE_SEX_IDENT_CD \(1 female, 1 male, 0 unknown\), birth is BENE_BIRTH_DT \(2 known\), death is BENE_DEATH_DT \(1 known\)$/,
		);
		const mimic = await read(
			{
				...main,
				"b.csv":
					"subject_id,gender,anchor_age,anchor_year,anchor_year_group,dod\n1,F,52,2180,2014 - 2016,\n2,M,,,,\n",
			},
			{ people: "b.csv" },
			"a.csv",
		);
		const birth = Date.UTC(2128, 6, 1) / 86_400_000;
		expect(mimic.people.map((person) => person.birth)).toEqual([birth, null]);
		expect(mimic.notes.at(-1)).toContain(
			"birth is the year in anchor_year - anchor_age (1 July) (1 known)",
		);
	});

	test("reads columns of people that options name, and warns of unknown values", async () => {
		const main = { "a.csv": "patient,date,icd9\n1,2008-01-01,4019\n" };
		const people = (text: string, options: TableOptions) =>
			read({ ...main, "b.csv": text }, { people: "b.csv", ...options }, "a.csv");
		const table =
			"id,is_male,born,year,died,sex\n1,0,1950-02-01,1950,,\n2,1,,,2010-01-01,\n3,,,1960,,\n";
		const options = { sex: "is_male", birth: "born", death: "died" };
		const zero = await people(table, options);
		expect(zero.people.map(({ sex }) => sex)).toEqual([null, "male", null]);
		expect(zero.warnings).toEqual([
			expect.stringMatching(
				/b\.csv: values of is_male that are read as unknown: "0" \(1\); as in ISO 5218, 1 is read as male and 2 as female: if .* say what each means with `sexValues`: VALUE=female,VALUE=male,VALUE=unknown$/,
			),
		]);
		const said = await people(table, { ...options, sexValues: { 0: "female" } });
		expect(said.people.map(({ sex, birth, death }) => [sex, birth, death])).toEqual([
			["female", -7274, null],
			["male", null, 14610],
			[null, null, null],
		]);
		expect(said.warnings).toEqual([]);
		const unknown = await people(table, { ...options, sexValues: { 0: "female", 1: null } });
		expect(unknown.people.map(({ sex }) => sex)).toEqual(["female", null, null]);
		expect(unknown.warnings).toEqual([]);
		const years = await people(table, { birthYear: "year" });
		expect(years.people.map(({ birth }) => birth)).toEqual([-7124, null, -3471]);

		await refused(people(table, { sex: "Sexx" }), 'no column is named "Sexx" (`sex`)');
		await refused(people(table, { birth: "born", birthYear: "year" }), "`birth` and `birthYear`");
		await refused(
			people(table.replace("1960", "60"), { birthYear: "year" }),
			'b.csv: line 4: year is "60"; expected a year between',
		);
		await refused(read(main, { sex: "sex" }, "a.csv"), "`sex` names a column of the people");
	});

	test("splits fields that hold several codes, and tells ICD-9 and ICD-10 apart by form", async () => {
		const text =
			'patientunitstayid,diagnosisoffset,icd9code\n1,720,"491.20, J44.9"\n1,-90,\n1,360,E888.9 ,\n2,0,"V58.67,,I10, 038"\n';
		const options = { separator: ",", system: "icd", timeIs: "minutes" } as const;
		const { axis, records, notes, warnings } = await csv(text.replace(" ,\n", "\n"), options);
		expect(axis).toBe("days");
		expect(records.map(({ patient, time, code, system }) => [patient, time, code, system])).toEqual(
			[
				["1", 0.5, "491.20", "ICD9CM"],
				["1", 0.5, "J44.9", "ICD10CM"],
				["1", 0.25, "E888.9", "ICD9CM"],
				["2", 0, "V58.67", "ICD9CM"],
				["2", 0, "I10", "ICD10CM"],
				["2", 0, "038", "ICD9CM"],
			],
		);
		expect(notes.join()).toContain("(minutes), code is icd9code (ICD9CM or ICD10CM by form)");
		expect(warnings).toEqual([]);
		const { separator: _, ...whole } = options;
		const unsplit = await csv(text.replace(" ,\n", "\n"), whole);
		expect(unsplit.warnings).toEqual([
			expect.stringMatching(/a\.csv: 1 field looks like several codes.*with `separator` ","$/),
		]);
		await refused(csv(text, { ...options, separator: "" }), "`separator` is empty");
		const hours = await csv("patient,hour,icd9\na,36,4019\n", { time: "hour", timeIs: "hours" });
		expect(hours.records[0]?.time).toBe(1.5);
	});

	test("takes names from a column, and the code system of drugs from an option", async () => {
		const files = {
			"conditions.csv":
				"START,STOP,PATIENT,ENCOUNTER,CODE,DESCRIPTION\n2020-01-02,,a,e,44054006,Diabetes\n2020-01-03,,a,e,44054006,Diabetes (disorder)\n2020-01-04,,b,e,44054006,Diabetes (disorder)\n",
			"medications.csv":
				"START,STOP,PATIENT,CODE,DESCRIPTION\n2020-01-02T05:00:00Z,,a,860975,Metformin 500 MG\n",
		};
		const options = { system: "snomed", name: "DESCRIPTION" };
		const read2 = (more: TableOptions) => read(files, { ...options, ...more });
		const rxnorm = await read2({ drugSystem: "rxnorm" });
		expect(rxnorm.names.map(({ system, code, name }) => [system, code, name])).toEqual([
			["SNOMED", "44054006", "Diabetes (disorder)"],
			["RxNorm", "860975", "Metformin 500 MG"],
		]);
		const named = await read2({});
		expect(named.records.at(-1)).toMatchObject({ code: "Metformin 500 MG", system: "Name" });
		expect(named.notes.join()).toMatch(/CODE was not read.*see --drug-system/);
		await refused(read2({ drugSystem: "drugs" }), '`drugSystem` "drugs" is not a code system');
		await refused(read2({ separator: "," }), "`name` names one column");
	});

	test("warns of ages in days that could be years", async () => {
		const text = "patient,age_days,icd9\na,50,4019\na,61.5,4019\n";
		expect((await csv(text)).warnings).toEqual([
			expect.stringMatching(/a\.csv: nobody is older than 61\.5 days;.*`timeIs` age-years$/),
		]);
		const years = text.replace("age_days", "age");
		expect((await csv(years, { timeIs: "age-years" })).warnings).toEqual([]);
	});

	test("takes columns, systems, kinds and values from the options", async () => {
		const text =
			"who\twhen\twhat\tof\tsort\tlevel\nx\t31/01/2020\tA\thttp://loinc.org/\tother\t1.5\nx\t01/02/2020\tB\town\tDrug\t<5\nx\t01/02/2020\tC\tATC\tdiagnosis\t\n";
		const { records, notes } = await csv(text, {
			patient: "who",
			time: "WHEN",
			code: "what",
			system: "of",
			kind: "sort",
			value: "level",
			dateFormat: "%d/%m/%Y",
			allowSystems: ["Own"],
		});
		expect(short(records)).toEqual([
			["x", 18292, "A", "LOINC", "other", 1.5],
			["x", 18293, "B", "Own", "drug", null],
			["x", 18293, "C", "ATC", "diagnosis", null],
		]);
		expect(notes.join()).toContain("1 value is no number: left empty");
	});

	test("a column of systems may hold icd, which the form of the code decides", async () => {
		const text =
			"patient,date,code,system\na,20200101,E888.9,icd\na,20200101,E11.9,ICD\na,20200101,250.00,icd\na,20200101,250.00,phecode\n";
		const { records } = await csv(text, { allowSystems: ["Icd"] });
		expect(records.map(({ code, system, kind }) => [code, system, kind])).toEqual([
			["E888.9", "ICD9CM", "diagnosis"],
			["E11.9", "ICD10CM", "diagnosis"],
			["250.00", "ICD9CM", "diagnosis"],
			["250.00", "PheCode", "diagnosis"],
		]);
	});

	test("one system for all rows, known or allowed", async () => {
		const text = "patient,date,code\na,20200101,1\n";
		expect((await csv(text, { system: "phecodes" })).records[0]).toMatchObject({
			system: "PheCode",
			kind: "diagnosis",
		});
		expect((await csv(text, { system: "own", allowSystems: ["own"] })).records[0]).toMatchObject({
			system: "own",
			kind: "other",
		});
		const icd9 = "patient,date,icd9\na,20200101,1\n";
		expect((await csv(icd9, { system: "icd9" })).records[0]?.system).toBe("ICD9CM");
	});

	test("keeps times of day after any number of plain dates", async () => {
		const rows = ["2020-01-31", "2020-01-31 12:00:00", "2020-02-01T06:00:00+02:00", "1900-01-01"];
		const text = `patient,date,icd9\n${rows.map((date) => `a,${date},1\n`).join("")}`;
		const days = [18292, 18292.5, 18293 + 4 / 24, -25567];
		expect((await csv(text)).records.map(({ time }) => time)).toEqual(days);
		const plain = await csv("patient,date,icd9\na,2020-01-31,1\na,1900-01-01,1\n");
		expect(plain.records.map(({ time }) => time)).toEqual([18292, -25567]);
	});

	test("ages need no birth date: everybody is born at 0", async () => {
		const text = "patient,age_days,phecode\na,365.25,1\nb,10,2\na,400,3\n";
		const days = await csv(text);
		expect(days.axis).toBe("days");
		expect(days.records.map(({ time }) => time)).toEqual([365.25, 10, 400]);
		const born = days.people.map(({ patient, birth }) => [patient, birth]);
		expect(born.sort()).toEqual([
			["a", 0],
			["b", 0],
		]);
		const years = await read(
			{
				"a.csv": "patient,age,phecode\na,2,1\n",
				"people.csv": "patient,sex,birth,death\na,F,1960-01-01,60\n",
			},
			{ timeIs: "age-years", people: "people.csv" },
			"a.csv",
		);
		expect(years.records[0]?.time).toBe(730.5);
		expect(years.people.map(({ birth, death }) => [birth, death])).toEqual([
			[null, 21915],
			[0, null],
		]);
		expect(years.notes.join()).toContain("birth was not read");
		const own = await csv("patient,day,phecode\na,2.5,1\n", { timeIs: "days" });
		expect([own.axis, own.records[0]?.time, own.people]).toEqual(["days", 2.5, []]);
	});

	test("reads time and patient from another table", async () => {
		const files = {
			"a.csv": "hadm_id,icd9_code\n2,4019\n1,25000\n2,\n2,V270\n",
			"admissions.csv":
				"subject_id,hadm_id,admittime,diagnosis\np,1,2020-01-01,x\nq,2,2020-01-02 12:00:00,y\nq,2,2020-01-02 12:00:00,z\n",
			"twice.csv": "subject_id,hadm_id,admittime\np,1,2020-01-01\np,1,2020-01-02\n",
			"less.csv": "subject_id,hadm_id,admittime\np,1,2020-01-01\n",
		};
		const options = { join: "admissions.csv", on: "HADM_ID" };
		const { records, notes } = await read(files, options, "a.csv");
		expect(records.map(({ patient, time, code }) => [patient, time, code])).toEqual([
			["q", 18263.5, "4019"],
			["p", 18262, "25000"],
			["q", 18263.5, "V270"],
		]);
		expect(notes.join()).toMatch(/time is admittime of .*admissions\.csv/);
		expect(notes.join()).toContain("1 row has no code");
		const other = (join: string) => read(files, { ...options, join }, "a.csv");
		await refused(other("twice.csv"), "hadm_id 1 stands in rows that differ");
		await refused(other("less.csv"), 'a.csv: line 2: hadm_id "2" is not in', "less.csv");
		await refused(read(files, { join: "less.csv", on: "x" }, "a.csv"), 'named "x" (`on`)');
		await refused(read(files, { join: "less.csv" }, "a.csv"), "go together");
		await refused(read(files, {}, "a.csv"), "hold the patient", "`patient`");
	});

	test("identifies drugs by code, by name or by both", async () => {
		const main = { "a.csv": "patient,date,icd9\na,2020-01-01,4019\n" };
		const drugs = async (text: string) => {
			const options = { drugsFile: "d.csv" };
			const { records, names, notes } = await read({ ...main, "d.csv": text }, options, "a.csv");
			return {
				records: records.slice(1).map(({ code, system, kind }) => [code, system, kind]),
				names: names.map(({ system, code, name }) => [system, code, name]),
				notes: notes.slice(1).map((note) => note.replace(/^.*: (?=\d)/, "")),
			};
		};
		expect(await drugs("patient,startdate,drug\na,2020-01-01,Aspirin\n")).toEqual({
			records: [["Aspirin", "Name", "drug"]],
			names: [["Name", "Aspirin", "Aspirin"]],
			notes: [],
		});
		expect(
			await drugs(
				"patient,startdate,drug,ndc\na,2020-01-01,Aspirin,0\na,2020-01-01,Iron,0012\na,2020-01-01,,\n",
			),
		).toEqual({
			records: [
				["Aspirin", "Name", "drug"],
				["0012", "NDC", "drug"],
			],
			names: [
				["NDC", "0012", "Iron"],
				["Name", "Aspirin", "Aspirin"],
			],
			notes: ["1 row has no code: left out", "1 row has no ndc: known by name instead"],
		});
		expect(
			(await drugs("patient,date,code,vocabulary_id\na,2020-01-01,1,RxNorm\n")).records,
		).toEqual([["1", "RxNorm", "drug"]]);
		await refused(drugs("patient,date,code\na,2020-01-01,1\n"), "rename the column to atc");
		await refused(drugs("patient,date,dose\na,2020-01-01,1\n"), "the drug", "dose");
		await refused(drugs("patient,date,atc\na,2020-99-01,1\n"), "d.csv: line 2", "2020-99-01");
	});

	test("names codes in every system they occur in", async () => {
		const { names } = await read(
			{
				"a.csv":
					"patient,date,code,system\na,20200101,1,icd9\na,20200101,1,atc\na,20200101,2,atc\n",
				"n.csv": "code,name,category,kind\n1,One,numbers,other\n3,Three\n",
			},
			{ names: "n.csv" },
			"a.csv",
		);
		expect(short(names)).toEqual([
			["ATC", "1", "One", "numbers", "other"],
			["ICD9CM", "1", "One", "numbers", "other"],
		]);
	});

	test("reads splits from the table of people, and rejects invalid values", async () => {
		const people = async (text: string) => {
			const files = { "a.csv": "patient,date,icd9\na,2020-01-01,1\n", "p.csv": text };
			return (await read(files, { people: "p.csv" }, "a.csv")).people;
		};
		expect(
			(await people("patient,split\na,Train\nb,tuning\nc,held_out\nd,NA\n")).map((p) => p.split),
		).toEqual(["train", "valid", "test", null]);
		const born = await read(
			{
				"a.csv": "patient,date,icd9\na,31/01/2020,1\n",
				"p.csv": "patient,dob\na,02/01/1970\nb,1970-01-03\n",
			},
			{ people: "p.csv", dateFormat: "%d/%m/%Y" },
			"a.csv",
		);
		expect(born.people.map(({ birth }) => birth)).toEqual([1, 2]);
		await refused(people("patient,sex\na,F\nb,x\n"), "p.csv: line 3: sex is not a word");
		await refused(people("patient,birth\na,1960-13-01\n"), 'line 2: birth is "1960-13-01"');
		await refused(people("patient,death\na,1960\n"), 'line 2: death is "1960", a number');
		await refused(people("patient,split\na,dog\n"), "split is not one of train, valid, test");
		await refused(people("patient,sex\n,F\n"), "line 2: patient is empty");
		await refused(people("patient,height\na,1\n"), "sex, birth, death or split", "height");
		await refused(people("sex,birth\nF,1960-01-01\n"), "hold the patient");
		await refused(people("patient,sex\na\n"), "line 2 has 1 field");
	});

	test("several files, a pattern and gzip are read in the order of their names", async () => {
		const files = {
			"x1.csv": "patient,date,icd9\na,2020-01-01,1\n",
			"x2.csv.gz": gzipSync("patient,date,icd9\na,2020-01-01,2\n"),
			"x3.tsv": "icd9\tpatient\tdate\n3\ta\t2020-01-01\n",
			"it's.txt": "not read",
		};
		const codes = ({ records }: { records: { code: string }[] }) => records.map(({ code }) => code);
		expect(codes(await read(files))).toEqual(["1", "2", "3"]);
		const folder = await folderOf(files);
		expect(codes(await load(await openCsv(join(folder, "x*.csv*"))))).toEqual(["1", "2"]);
		const list = ["x3.tsv", "x1.csv"].map((name) => join(folder, name));
		expect(codes(await load(await openCsv(list)))).toEqual(["3", "1"]);
		await refused(openCsv(join(folder, "y*.csv")).then(load), "no file matches");
		await refused(openCsv(join(folder, "y.csv")).then(load), "no such file");
		await refused(openCsv([]).then(load), "no file was given");
		await refused(openParquetRecords(folder).then(load), "holds no .parquet file");
		await refused(openParquetRecords(join(folder, "x1.csv")).then(load), "`format` csv");
		await writeFile(join(folder, "x4.csv"), "patient,date,icd10\na,2020-01-01,1\n");
		await refused(openCsv(folder).then(load), "x4.csv has no column icd9, which is read from ");
		await mkdir(join(folder, "sub"));
		await refused(openCsv(join(folder, "sub")).then(load), "holds no .csv");
	});

	test("files whose names differ in case alone are both read", async () => {
		const header = "patient,date,icd9\n";
		const files = {
			"A.csv": `${header}a,2020-01-01,250\n`,
			"a.csv": `${header}b,2020-01-01,401\n`,
		};
		const { records } = await read(files);
		expect(records.map(({ patient, code }) => `${patient} ${code}`)).toEqual(["a 250", "b 401"]);
	});

	test("several files may differ in columns that are not read", async () => {
		const files = {
			"a.csv": "patient,date,icd9\na,2020-01-01,1\n",
			"b.csv": "note,icd9,patient,date\nx,2,a,2020-01-01\n",
		};
		const codes = ({ records }: { records: { code: string }[] }) => records.map(({ code }) => code);
		expect(codes(await read(files))).toEqual(["1", "2"]);
		await refused(
			read({ ...files, "c.csv": "patient,date,icd9,system\na,2020-01-01,3,icd9\n" }),
			"a.csv has no column system, which is read from ",
			"c.csv; it has patient, date, icd9: expected the columns that are read in every file",
		);
	});

	const icd9 = (rows: string) => `patient,date,icd9\n${rows}`;
	test.each<[string, string, TableOptions, string[]]>([
		["header only", icd9(""), {}, ["contains no rows"]],
		["no codes", icd9("a,2020-01-01,\na,2020-01-01,NULL\n"), {}, ["no row has a code"]],
		["no time", icd9("a,2020-01-01,1\n\na,,1\n"), {}, ["a.csv: line 4: date is empty"]],
		["no patient", icd9("a,2020-01-01,1\n ,2020-01-01,1\n"), {}, ["line 3: patient is empty"]],
		["no date", icd9("a,2020-02-30,1\n"), {}, ['line 2: date is "2020-02-30"', "`dateFormat`"]],
		["other dates", icd9("a,31/01/2020,1\n"), {}, ['"31/01/2020"', "`dateFormat` %d/%m/%Y"]],
		["numbers", icd9("a,3401,1\n"), {}, ['"3401", a number', "`timeIs` age-days"]],
		["no numbers", icd9("a,x,1\n"), { timeIs: "days" }, ['date is "x"; expected a finite number']],
		["infinity", icd9("a,inf,1\n"), { timeIs: "days" }, ["expected a finite number"]],
		[
			"a day that overflows",
			icd9("a,1,1\na,1e300,1\n"),
			{ timeIs: "days" },
			['a.csv: line 3: date is "1e300"; expected a day from -10000000000 to 10000000000'],
		],
		[
			"an age in days",
			icd9("a,1,1\na,1e300,1\n"),
			{ timeIs: "age-days" },
			['a.csv: line 3: date is "1e300"; expected an age from 0 to 120 years (age-days)'],
		],
		[
			"an age in years",
			icd9("a,201,1\n"),
			{ timeIs: "age-years" },
			[
				'a.csv: line 2: date is "201"; expected an age from 0 to 120 years (age-years), or pass `timeIs` age-days',
			],
		],
		["an age below 0", icd9("a,-1e300,1\n"), { timeIs: "age-days" }, ["from 0 to 120 years"]],
		["a word", icd9("a,2020-01-01,1\na,infinity,1\n"), {}, ['line 3: date is "infinity"']],
		["epoch", icd9("a,2020-01-01,1\na,epoch,1\n"), {}, ['line 3: date is "epoch"']],
		["another format", icd9("a,2020-01-01,1\n"), { dateFormat: "%d.%m.%Y" }, ["%d.%m.%Y"]],
		["a wrong format", icd9("a,2020-01-01,1\n"), { dateFormat: "%Q" }, ["cannot be understood"]],
		["no format", icd9("a,2020-01-01,1\n"), { dateFormat: "dd" }, ["has no field"]],
		["ragged", icd9("a,2020-01-01,1\na,2020-01-01\n"), {}, ["line 3 has 2 fields; expected 3"]],
		["no code column", "patient,date,x\na,2020-01-01,1\n", {}, ["the code", "`code`", "date, x"]],
		["no time column", "patient,icd9\na,1\n", {}, ["the time", "`time`", "`join`"]],
		["an absent column", icd9("a,2020-01-01,1\n"), { code: "x" }, ['"x" (`code`)', "icd9"]],
		["no system", "patient,date,code\na,20200101,1\n", {}, ["which code system", "`system` icd9"]],
		["unknown system", icd9("a,20200101,1\n"), { system: "dog" }, ['"dog"', "`allowSystems` dog"]],
		[
			"unknown system in a row",
			"patient,date,code,system\na,20200101,1,atc\na,20200101,1,dog\n",
			{},
			['line 3: system is "dog"', "`allowSystems`"],
		],
		[
			"no system in a row",
			"patient,date,code,system\na,20200101,1,\n",
			{},
			["line 2: system is empty"],
		],
		[
			"unknown kind",
			"patient,date,icd9,kind\na,20200101,1,dog\n",
			{ kind: "kind" },
			["line 2: kind is not one of diagnosis, drug, procedure, laboratory, other"],
		],
		[
			"two columns of codes",
			"patient,date,icd9,icd10\na,20200101,1,2\n",
			{},
			["ambiguous columns icd9 and icd10", "`code`"],
		],
		["unit", icd9("a,1,1\n"), { timeIs: "weeks" as "days" }, ['"weeks"; expected one of date']],
		["delimiter", icd9("a,1,1\n"), { delimiter: "||" }, ["one character"]],
	])("refuses %s", async (_, text, options, messages) => {
		await refused(csv(text, options), ...messages);
	});

	test("reports the right row after quoted line ends and among many rows", async () => {
		const rows = Array.from({ length: 5000 }, (_, i) => `p${i},2020-01-01,"${i}\n"\n`);
		rows[4321] = "p,soon,1\n";
		await refused(csv(icd9(rows.join(""))), 'a.csv: line 8644: date is "soon"');
	});

	test("rejects a file that is given twice", async () => {
		const folder = await folderOf({ "a.csv": simulated["claims.csv"] ?? "" });
		const file = join(folder, "a.csv");
		await refused(
			openCsv([file, join(folder, ".", "*.csv")]).then(load),
			`${file} is given twice`,
			"name it once",
		);
	});

	test("suggests the other format if a folder contains only that", async () => {
		const folder = await folderOf({ "codes.csv": "code,name\n1,one\n" });
		await writeParquet(join(folder, "claims.parquet"), "SELECT 1 AS patient");
		await refused(
			openCsv(folder).then(load),
			`${folder} holds claims.parquet; read it with \`format\` parquet`,
		);
		const other = await folderOf({ "diagnoses.csv.gz": "" });
		await writeParquet(join(other, "codes.parquet"), "SELECT 1 AS code");
		await refused(
			openParquetRecords(other).then(load),
			`${other} holds diagnoses.csv.gz; read it with \`format\` csv`,
		);
	});

	test("rejects implausible years, and accepts those of shifted dates", async () => {
		const claims = (date: string) => `patient,date,icd9\np,2020-01-31,250\np,${date},250\n`;
		await refused(
			csv(claims("1/2/20")),
			'a.csv: line 3: date is "1/2/20"; expected a date such as',
		);
		for (const date of [
			"0001-02-20",
			"0020-01-02",
			"9999-12-31",
			"17991231",
			"2301-01-01 00:00:00",
		])
			await refused(
				csv(claims(date)),
				`a.csv: line 3: date is "${date}"; expected a year between 1800 and 2300`,
			);
		const format = { dateFormat: "%Y-%m-%d" };
		await refused(csv(claims("0020-01-02"), format), "expected a year between 1800 and 2300");
		const { records } = await csv(claims("2187-03-04"));
		expect(records[1]?.time).toBe(Date.UTC(2187, 2, 4) / 864e5);
		const days = await csv("patient,time,icd9\np,-700000,250\n", { timeIs: "days" });
		expect(days.records[0]?.time).toBe(-700_000);
		await refused(
			read({ ...simulated, "people.csv": "patient,birth\na,1960-01-01\nb,0060-01-01\n" }),
			'people.csv: line 3: birth is "0060-01-01"; expected a year between 1800 and 2300',
		);
		await refused(
			read({ ...simulated, "prescriptions.csv": "patient,date,drug\na,9999-12-31,x\n" }),
			'prescriptions.csv: line 2: date is "9999-12-31"; expected a year',
		);
	});

	test("a folder with two tables of records is ambiguous", async () => {
		const text = icd9("a,2020-01-01,1\n");
		await refused(read({ "claims.csv": text, "Events.csv": text }), "ambiguous files");
	});

	describe("Parquet", () => {
		const source = async (sql: string, options: TableOptions = {}) => {
			const file = join(await temporaryFolder(), "a.parquet");
			return load(await openParquetRecords(await writeParquet(file, sql), options));
		};
		test("rejects invalid codes, dates and texts", async () => {
			const row = (date: string, code: string) =>
				`SELECT 'a' AS patient, ${date} AS date, ${code} AS icd9`;
			await refused(
				source(row("DATE '2020-01-01'", "250.1::DOUBLE")),
				"icd9 is of type DOUBLE",
				"as text",
			);
			await refused(source(row("3401", "'1'")), "date is of type INTEGER", "`timeIs`");
			await refused(source(row("NULL::DATE", "'1'")), "a.parquet: row 1: date is empty");
			await refused(source(row("DATE 'infinity'", "'1'")), "a.parquet: row 1: date is");
			for (const date of ["9999-12-31", "294300-01-01"])
				await refused(source(row(`DATE '${date}'`, "'1'")), `row 1: date is "${date}"; expected`);
			await refused(source(row("DATE '2020-01-01'", "[1]")), "INTEGER[]");
			await refused(
				source(row("DATE '2020-01-01'", "'1'"), { timeIs: "days" }),
				"type DATE",
				"days",
			);
			await refused(source(`${row("DATE '2020-01-01'", "'1'")} LIMIT 0`), "contains no rows");
			const numbers = await source(row("20200101", "'1'"), { dateFormat: "%Y%m%d" });
			expect(numbers.records[0]?.time).toBe(18262);
		});

		test("rejects a damaged file, whatever the damage", async () => {
			const folder = await temporaryFolder();
			const good = await writeParquet(
				join(folder, "good.parquet"),
				"SELECT 'p' || i AS patient, DATE '2020-01-01' + i::INT AS date, 'c' || i AS icd9 FROM range(50) t(i)",
			);
			const bytes = await readFile(good);
			let number = 0;
			const attempt = async (content: Uint8Array) => {
				const file = join(folder, `${number++}.parquet`); // DuckDB keeps what it knows of a path
				await writeFile(file, content);
				await load(await openParquetRecords(file));
			};
			await refused(attempt(new Uint8Array()), "is not a Parquet file");
			await refused(attempt(bytes.subarray(0, 4)), "corrupt or incomplete");
			await refused(attempt(bytes.subarray(0, -9)), "corrupt or incomplete");
			await fc.assert(
				fc.asyncProperty(
					fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
					async (changes) => {
						const changed = Uint8Array.from(bytes);
						for (const [at, byte] of changes) changed[at] = byte;
						await attempt(changed).catch((error) => expect(error).toBeInstanceOf(InputError));
					},
				),
				{ numRuns: 20 },
			);
		});
	});

	test("reads or rejects any content of a table", async () => {
		const cell = fc.oneof(
			fc.constantFrom(
				"a",
				"",
				"NULL",
				"2020-01-01",
				"20200101",
				"1e9",
				"-infinity",
				"epoch",
				"9",
				"\0",
				"é",
			),
			fc.string({ maxLength: 12 }).map((text) => `"${text.replaceAll('"', '""')}"`),
		);
		const names = ["patient", "date", "code", "system", "kind", "value", "age_days", "icd9", "id"];
		const table = fc
			.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 6 })
			.chain((header) =>
				fc
					.array(fc.array(cell, { minLength: header.length, maxLength: header.length }), {
						maxLength: 4,
					})
					.map((rows) => [header, ...rows].map((row) => row.join(",")).join("\n")),
			);
		const options = fc.record(
			{
				timeIs: fc.constantFrom("date", "age-days", "age-years", "days"),
				system: fc.constantFrom("icd9", "system", "kind"),
				value: fc.constant("value"),
				people: fc.constant("p.csv"),
				drugsFile: fc.constant("p.csv"),
			} as const,
			{ requiredKeys: [] },
		);
		await fc.assert(
			fc.asyncProperty(table, table, options, async (main, people, options) => {
				await read({ "a.csv": main, "p.csv": people }, options as TableOptions, "a.csv").catch(
					(error) => {
						if (!(error instanceof InputError)) throw error;
					},
				);
			}),
			{ numRuns: 30 },
		);
	});
});
