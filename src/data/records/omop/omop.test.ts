import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import type { OmopOptions } from "./index.js";
import { openOmop } from "./index.js";
import type { Cdm } from "./testing/cdm.js";
import { cdm, vocabulary, writeCdm, writeParquet } from "./testing/cdm.js";

const day = (date: string) => Date.parse(`${date}Z`) / 86_400_000;

async function loaded(tables: Cdm, options: OmopOptions = {}) {
	const folder = await temporaryFolder();
	await writeCdm(folder, tables);
	return load(await openOmop(folder, options));
}

/** patient, system and code of each record, in order. */
const short = ({ records }: Awaited<ReturnType<typeof load>>) =>
	records.map(({ patient, system, code }) => `${patient} ${system} ${code}`);

const { condition_era: _, ...withoutEras } = cdm;

describe("people", () => {
	test("have birth from its parts or as a datetime, sex by concept, and death", async () => {
		const { people, axis, notes } = await loaded(cdm);
		expect(axis).toBe("dates");
		expect(people.map(({ place, split, ...row }) => row)).toEqual([
			{ patient: "1", birth: day("1950-03-09"), sex: "male", death: null },
			{ patient: "2", birth: day("1961-05-01"), sex: "female", death: null },
			{ patient: "3", birth: day("1972-07-01"), sex: null, death: null },
			{ patient: "4", birth: day("1980-02-29") + 0.25, sex: null, death: null },
			{ patient: "2", birth: null, sex: null, death: day("2021-06-01") },
		]);
		expect(people[1]?.place).toMatch(/person\.csv: row 2$/);
		expect(people[4]?.place).toMatch(/death\.csv: row 1$/);
		expect(notes).toContain("1 people have a year of birth alone: 1 July was taken");
		expect(notes).toContain("1 people have a year and month of birth alone: the 1st was taken");
		expect(notes).toContain("2 people have a gender other than 8507 or 8532: not known");
	});

	test("with conditions but not in person are counted", async () => {
		const { notes } = await loaded({ ...cdm, person: cdm.person?.slice(0, 3) ?? [] });
		expect(notes.join("\n")).toMatch(/1 patients are not in .*person\.csv/);
	});
});

describe("observation periods", () => {
	test("come from observation_period", async () => {
		const { periods, observation } = await loaded(cdm);
		expect(observation).toBe("observation_period");
		expect(periods).toEqual([
			{ patient: "1", first: day("2015-01-01"), last: day("2019-12-31") },
			{ patient: "1", first: day("2020-01-01"), last: day("2020-03-31") },
			{ patient: "2", first: day("2019-01-01"), last: day("2021-06-01") },
		]);
	});

	test("are unknown without the table, and without rows in it", async () => {
		const { observation_period: _, ...without } = cdm;
		expect((await loaded(without)).observation).toBeUndefined();
		const { observation, notes } = await loaded({ ...cdm, observation_period: [] });
		expect(observation).toBeUndefined();
		expect(notes.join("\n")).toMatch(/observation_period\.csv contains no rows/);
	});

	test("that end before they start are left out and counted", async () => {
		const reversed = {
			person_id: 3,
			observation_period_start_date: "2020-02-01",
			observation_period_end_date: "2020-01-31",
		};
		const { observation_period = [] } = cdm;
		const result = await loaded({ ...cdm, observation_period: [...observation_period, reversed] });
		expect(result.periods).toHaveLength(3);
		expect(result.notes).toContain("observation_period: 1 row ends before the start: left out");
	});
});

describe("codes", () => {
	test("without vocabularies are concepts; rows without one are left out", async () => {
		const result = await loaded(cdm);
		expect(short(result)).toEqual([
			"1 OMOP 201826",
			"1 OMOP 201826",
			"2 OMOP 320128",
			"2 OMOP 4024552",
			"4 OMOP 44833365",
			"4 OMOP 255848",
			"1 OMOP 1503297",
			"1 OMOP 45000001",
			"2 OMOP 21600001",
		]);
		expect(result.records[5]).toEqual({
			patient: "4",
			time: day("2018-07-10") + 0.5,
			code: "255848",
			system: "OMOP",
			kind: "diagnosis",
			value: null,
		});
		expect(result.records[6]).toMatchObject({ time: day("2020-02-02"), kind: "drug" });
		expect(result.names).toEqual([]);
		expect(result.notes).toContain(
			"condition_occurrence: 2 rows left out: concept 0 and no source code; 1 of them have a source value: pass --source-system to use it",
		);
		expect(result.notes).toContain("drug_exposure: 1 rows left out: concept 0 and no source code");
	});

	test("of measurements have values, with the code of the unit's concept or as the source names it", async () => {
		const measurement = (id: number, date: string, more: Cdm[string][number]) => ({
			...{ measurement_id: id, person_id: 1, measurement_concept_id: 3_004_501 },
			...{ measurement_date: date, ...more },
		});
		const tables = {
			...withoutEras,
			drug_exposure: [],
			measurement: [
				measurement(1, "2020-01-01", { value_as_number: 5.5, unit_concept_id: 8753 }),
				measurement(2, "2020-01-02", { value_as_number: 99, unit_concept_id: 8840 }),
				measurement(3, "2020-01-03", { value_as_number: 7, unit_source_value: "mmol" }),
				measurement(4, "2020-01-04", { value_as_number: "high", unit_concept_id: 0 }),
			],
			concept: [
				{
					...{ concept_id: 3_004_501, concept_name: "Glucose", vocabulary_id: "LOINC" },
					concept_code: "2345-7",
				},
				{
					...{ concept_id: 8753, concept_name: "millimole per liter", vocabulary_id: "UCUM" },
					concept_code: "mmol/L",
				},
			],
		};
		const { records } = await loaded(tables, { measurements: true });
		const found = records.filter(({ kind }) => kind === "laboratory");
		expect(found.map(({ code, system, value, unit }) => [code, system, value, unit])).toEqual([
			["2345-7", "LOINC", 5.5, "mmol/L"],
			["2345-7", "LOINC", 99, "8840"],
			["2345-7", "LOINC", 7, "mmol"],
			["2345-7", "LOINC", null, undefined],
		]);
		expect((await loaded(tables)).records.some(({ kind }) => kind === "laboratory")).toBe(false);
	});

	test("come from source values if their system is given", async () => {
		const result = await loaded({ ...withoutEras, drug_exposure: [] }, { sourceSystem: "icd9" });
		expect(short(result)).toEqual([
			"1 ICD9CM 250.00",
			"1 OMOP 201826",
			"2 ICD9CM I10",
			"2 OMOP 4024552",
			"3 ICD9CM V45.01",
			"4 OMOP 44833365",
			"4 OMOP 255848",
		]);
		expect(result.notes.join("\n")).toMatch(/drug_exposure\.csv contains no rows/);
	});

	test("with vocabularies come from the source concept, then from codes mapped to the concept", async () => {
		const result = await loaded({ ...cdm, ...vocabulary });
		expect(short(result)).toEqual([
			"1 ICD9CM 250.00",
			"1 ICD10CM E11.2", // E1 is shorter and withdrawn; E11.9 comes after
			"2 ICD10CM I10",
			"2 OMOP 4024552",
			"4 ICD9CM 250.00",
			"4 OMOP 255848", // the only relation is withdrawn
			"1 RxNorm 6809",
			"1 NDC 00093104801",
			"2 ATC A10",
		]);
		expect(result.notes).toContain(
			"condition_occurrence: 1 rows of 1 concepts could be several ICD codes; the shortest was taken, then the first in order",
		);
		expect(result.notes).toContain(
			"condition_occurrence: 8 rows: 25.0 % ICD10CM, 25.0 % ICD9CM, 25.0 % OMOP",
		);
		expect(result.names.map(({ system, code, name }) => `${system} ${code} ${name}`)).toEqual([
			"ATC A10 antidiabetics",
			"ICD10CM E11.2 Diabetes with kidney complication",
			"ICD10CM I10 Essential hypertension",
			"ICD9CM 250.00 Diabetes without complication",
			"NDC 00093104801 metformin 500 mg",
			"OMOP 255848 Pneumonia",
			"OMOP 4024552 Unmapped finding",
			"RxNorm 6809 metformin",
		]);
	});

	describe("a source code that is mapped to two concepts", () => {
		const row = (person: number, concept: number, date: string, source: string, of: number) => ({
			person_id: person,
			condition_concept_id: concept,
			condition_start_date: date,
			condition_source_value: source,
			condition_source_concept_id: of,
		});
		const condition_occurrence = [
			row(1, 201_826, "2020-01-31", "250.00", 44_833_365),
			row(1, 320_128, "2020-01-31", "250.00", 44_833_365), // again
			row(1, 201_826, "2020-01-31", "250.00", 44_833_365), // another record, of the same concept
			row(1, 320_128, "2020-02-01", "250.00", 44_833_365), // another day
			row(2, 320_128, "2020-01-31", "250.00", 44_833_365), // another person
			row(2, 255_848, "2020-01-31", "I10", 35_207_668), // another code
			row(3, 201_826, "2020-01-31", "", 0), // coded by their concepts
			row(3, 4_024_552, "2020-01-31", "", 0),
		];
		const { person: people = [] } = cdm;
		const person = people.slice(0, 3);
		const note = (rows: number) =>
			`condition_occurrence: ${rows} more rows repeat the source code of another, of the same person and time, under a second concept: one record each time`;

		test("is one record, by source concept", async () => {
			const result = await loaded({ person, condition_occurrence, ...vocabulary });
			expect(short(result)).toEqual([
				"1 ICD9CM 250.00",
				"1 ICD9CM 250.00",
				"1 ICD9CM 250.00",
				"2 ICD9CM 250.00",
				"2 ICD10CM I10",
				"3 ICD10CM E11.2",
				"3 OMOP 4024552",
			]);
			expect(result.records.map(({ time }) => time).slice(0, 4)).toEqual(
				["2020-01-31", "2020-01-31", "2020-02-01", "2020-01-31"].map(day),
			);
			expect(result.notes).toContain(note(1));
			expect(result.notes).toContain(
				"condition_occurrence: 7 rows: 57.1 % ICD9CM, 28.6 % ICD10CM, 14.3 % OMOP",
			);
		});

		test("is one record, by source value", async () => {
			const result = await loaded({ person, condition_occurrence }, { sourceSystem: "icd9" });
			expect(short(result).filter((text) => text === "1 ICD9CM 250.00")).toHaveLength(3);
			expect(result.notes).toContain(note(1));
		});

		test("is two records if the concepts are the codes", async () => {
			const result = await loaded({ person, condition_occurrence });
			expect(result.records).toHaveLength(8);
			expect(result.notes).not.toContain(note(1));
		});
	});

	test("--source-system decides between several codes", async () => {
		const result = await loaded({ ...cdm, ...vocabulary }, { sourceSystem: "icd9" });
		expect(short(result)[1]).toBe("1 ICD9CM 250.00");
		expect(short(result)).toContain("3 ICD9CM V45.01");
	});

	test("concepts without relations still give names", async () => {
		const { concept = [] } = vocabulary;
		const twice = concept.flatMap((row) => [row, { ...row, concept_code: `${row.concept_code}9` }]);
		const again = await loaded({ ...cdm, ...vocabulary, concept: twice });
		expect(short(again)).toEqual(short(await loaded({ ...cdm, ...vocabulary })));
		const result = await loaded({ ...cdm, concept });
		expect(short(result).slice(0, 2)).toEqual(["1 ICD9CM 250.00", "1 OMOP 201826"]);
		expect(result.names).toContainEqual({
			system: "OMOP",
			code: "201826",
			name: "Type 2 diabetes mellitus",
			category: null,
			kind: null,
		});
	});

	test("reads eras on request, or if there is nothing else", async () => {
		const eras = await loaded({ ...cdm, drug_exposure: [] }, { conditions: "era" });
		expect(short(eras)).toEqual(["1 OMOP 201826"]);
		expect(eras.records[0]?.time).toBe(day("2020-01-30"));
		const { condition_occurrence: _, drug_exposure: __, ...rest } = cdm;
		const drug_era = [
			{ drug_era_id: 1, person_id: 2, drug_concept_id: 5, drug_era_start_date: "2020-05-05" },
		];
		expect(short(await loaded({ ...rest, drug_era }))).toEqual(["1 OMOP 201826", "2 OMOP 5"]);
		expect(short(await loaded({ ...cdm, drug_era }, { drugTable: "era" })).at(-1)).toBe("2 OMOP 5");
	});

	test("reads observations whose source is an ICD code", async () => {
		const told = await loaded({ ...cdm, ...vocabulary }, { observations: true });
		expect(short(told)).toContain("1 ICD9CM V10.3");
		expect(told.notes).toContain("observation: 1 rows left out, for their source is no ICD code");
		const shaped = await loaded(cdm, { observations: true, sourceSystem: "icd9" });
		expect(short(shaped)).toContain("1 ICD9CM V10.3");
		expect(short(shaped)).not.toContain("1 ICD9CM G8445");
		const neither = await loaded(cdm, { observations: true });
		expect(neither.notes).toContain(
			"observation: 2 rows left out, for their source is no ICD code",
		);
	});
});

describe("files", () => {
	test("TSV without header, gzip and Parquet yield the same as CSV", async () => {
		const tables = { ...cdm, ...vocabulary };
		const options = { observations: true };
		const want = await loaded(tables, options);
		const tsv = await temporaryFolder();
		await writeCdm(tsv, tables, "tsv");
		const packed = await temporaryFolder();
		await writeCdm(packed, tables, "csv.gz");
		const csv = await temporaryFolder();
		await writeCdm(csv, tables);
		const parquet = await temporaryFolder();
		await writeParquet(csv, parquet, tables);
		for (const folder of [tsv, packed, parquet]) {
			const got = await load(await openOmop(folder, options));
			expect(got.records).toEqual(want.records);
			expect(got.people.map(({ place, ...row }) => row)).toEqual(
				want.people.map(({ place, ...row }) => row),
			);
			expect(got.names).toEqual(want.names);
			expect(got.periods).toEqual(want.periods);
			expect(got.notes.filter((note) => !note.startsWith("no header"))).toEqual(want.notes);
			expect(got.notes.some((note) => note.startsWith("no header"))).toBe(folder === tsv);
		}
	});

	test("upper case, Windows line ends, a byte order mark, 8507.0 and quotes in tabs", async () => {
		const folder = await temporaryFolder();
		await writeFile(
			join(folder, "PERSON.CSV"),
			"\ufeffPERSON_ID,GENDER_CONCEPT_ID,YEAR_OF_BIRTH\r\n1.0,8507.0,1950.0\r\n",
		);
		await writeFile(
			join(folder, "Condition_Era.tsv"),
			'"Person_Id"\t"Condition_Concept_Id"\t"Condition_Era_Start_Date"\n"1"\t"7"\t"20200131"\n',
		);
		await writeFile(
			join(folder, "CONCEPT.csv"),
			'concept_id\tconcept_name\tvocabulary_id\tconcept_code\n7\tsuch as "this" one\tSNOMED\t8\n9\t"open\tSNOMED\t8\n',
		);
		const { people, records, names } = await load(await openOmop(folder));
		expect(people).toMatchObject([{ patient: "1", sex: "male", birth: day("1950-07-01") }]);
		expect(records).toMatchObject([{ patient: "1", code: "7", time: day("2020-01-31") }]);
		expect(names).toMatchObject([{ code: "7", name: 'such as "this" one' }]);
	});
});

describe("a map of concepts", () => {
	async function mapped(text: string, options: OmopOptions = {}) {
		const folder = await temporaryFolder();
		await writeCdm(folder, { ...withoutEras, drug_exposure: [] });
		const conceptMap = join(folder, "map-of-ours.csv");
		await writeFile(conceptMap, text);
		return load(await openOmop(folder, { ...options, conceptMap }));
	}

	test("maps concepts to codes, with the system from the column name", async () => {
		const icd9 = await mapped("condition_concept_id,icd9_most_frequent,n_icd9\n201826,25000,3\n");
		expect(short(icd9).slice(0, 3)).toEqual(["1 ICD9CM 25000", "1 ICD9CM 25000", "2 OMOP 320128"]);
		const icd10 = await mapped("ICD10CM,Concept_ID\nE119,201826\n,320128\nE119,201826\n");
		expect(short(icd10).slice(0, 3)).toEqual(["1 ICD10CM E119", "1 ICD10CM E119", "2 OMOP 320128"]);
		const told = await mapped("concept_id,icd_code\n201826,E119\n", { sourceSystem: "icd10" });
		expect(short(told)[1]).toBe("1 ICD10CM E119");
		const both = "concept_id,icd9,icd10\n201826,25000,E119\n";
		expect(short(await mapped(both, { sourceSystem: "icd9" }))[1]).toBe("1 ICD9CM 25000");
	});

	test.each([
		["concept_id,icd9,icd10\n1,2,3\n", /icd9 and icd10; say which to take with `sourceSystem`/],
		["concept_id,icd9_a,icd9_b\n1,2,3\n", /icd9_a and icd9_b; keep one/],
		["concept_id,icd\n1,2\n", /column icd does not say which ICD it holds; pass `sourceSystem`/],
		["concept_id,code\n1,2\n", /has no column of ICD codes; it has concept_id, code; expected/],
		["id,icd9\n1,2\n", /has no column of concepts; it has id, icd9; expected/],
		["concept_id,icd9\n1,2\nx,2\n", /line 3: concept_id is "x"; expected the number/],
		["concept_id,icd9\n1,2\n5,6\n1,3\n", /line 4 gives concept 1 another code/],
		["", /map-of-ours\.csv is empty/],
	])("refuses %j", async (text, message) => {
		await expect(mapped(text)).rejects.toThrow(message);
	});
});

describe("errors of a folder", () => {
	const person = "person_id,gender_concept_id,year_of_birth\n1,8507,1950\n";
	const era = "person_id,condition_concept_id,condition_era_start_date\n1,7,2020-01-31\n";

	async function refused(files: Record<string, string | Uint8Array>, options: OmopOptions = {}) {
		const folder = await temporaryFolder();
		for (const [name, content] of Object.entries(files))
			await writeFile(join(folder, name), content);
		const error = await openOmop(folder, options)
			.then(load)
			.then(
				() => undefined,
				(thrown) => thrown,
			);
		expect(error).toMatchObject({ name: "InputError" });
		return expect((error as Error).message.replaceAll(`${folder}/`, ""));
	}

	test.each([
		["2020-13-01", /condition_era_start_date is "2020-13-01"; expected a date such as 2020-01-31/],
		["31/01/2020", /condition_era_start_date is "31\/01\/2020"; expected a date/],
		["", /condition_era_start_date is empty; expected a date/],
		["infinity", /condition_era_start_date is "infinity"; expected a date/],
		["1/2/20", /condition_era_start_date is "1\/2\/20"; expected a date/],
		["0001-02-20", /is "0001-02-20"; .* expected a year between 1800 and 2300/],
	])("the date %j", async (date, message) => {
		const text = `${era}1,7,2020-01-31\n\n1,7,${date}\n`;
		const got = await refused({ "person.csv": person, "condition_era.csv": text });
		got.toMatch(message);
		(await refused({ "person.csv": person, "condition_era.csv": text })).toMatch(
			/^condition_era\.csv: line 5: /,
		);
	});

	test.each([
		[`${era},7,2020-01-31\n`, /line 3: person_id is empty; every row needs the number of a person/],
		[
			`${era}1,E11.9,2020-01-31\n`,
			/line 3: condition_concept_id is "E11.9"; expected a whole number/,
		],
		[
			"person_id,condition_concept_id\n1,7\n",
			/no column condition_era_start_date; it has person_id, condition_concept_id;/,
		],
		[
			"person_id,condition_concept_id,condition_era_start_date\n",
			/contains no rows; expected one row per diagnosis/,
		],
		["", /condition_era\.csv is empty/],
		[
			"1,2,3\n",
			/first line has 3 fields and names no column of the table condition_era; expected a header such as person_id,.*or 6 columns/,
		],
		[`${era}1,7\n`, /condition_era\.csv: line 3 has 2 fields; expected 3/],
		[`${era}1,"7,2020-01-31\n`, /condition_era\.csv: line 3: a quote is opened and never closed/],
		[`${era}1,7\xff,2020-01-31\n`, /condition_era\.csv: line 3 is not UTF-8/],
		["PAR1 and so on", /condition_era\.csv: corrupt or incomplete Parquet/],
		["\x1f\x8b\x08 no gzip", /condition_era\.csv.*(gzip)/],
	])("conditions %j", async (text, message) => {
		const content = Buffer.from(text, "latin1");
		(await refused({ "person.csv": person, "condition_era.csv": content })).toMatch(message);
	});

	test.each([
		["person_id,year_of_birth,month_of_birth\n1,1950,13\n", /line 2: month_of_birth is "13"/],
		[
			"person_id,year_of_birth,month_of_birth,day_of_birth\n1,1950,2,30\n",
			/line 2: day_of_birth is "30"/,
		],
		[
			"person_id,year_of_birth\n1,soon\n",
			/line 2: year_of_birth is "soon"; expected a year between 1800 and 2300/,
		],
		[
			"person_id,year_of_birth,birth_datetime\n1,1950,spring\n",
			/line 2: birth_datetime is "spring"/,
		],
		["person_id,year_of_birth\n1,20\n", /year_of_birth is "20"; expected a year between 1800/],
		["person_id,year_of_birth\n,1950\n", /line 2: person_id is empty/],
		["person_id,gender_concept_id\n1,8507\n", /person\.csv has no column year_of_birth/],
		["person_id,year_of_birth\n", /person\.csv contains no people/],
	])("people %j", async (text, message) => {
		(await refused({ "person.csv": text, "condition_era.csv": era })).toMatch(message);
	});

	test("a death without a date, a period without an end, and a concept without a number", async () => {
		const files = { "person.csv": person, "condition_era.csv": era };
		(await refused({ ...files, "death.csv": "person_id,death_date\n1,\n" })).toMatch(
			/^death\.csv: line 2: death_date is empty/,
		);
		(await refused({ ...files, "death.csv": "person_id,death_date\n1,9999-12-31\n" })).toMatch(
			/^death\.csv: line 2: death_date is "9999-12-31".* expected a year between 1800 and 2300/,
		);
		const period = "person_id,observation_period_start_date,observation_period_end_date\n";
		(await refused({ ...files, "observation_period.csv": `${period}1,2020-01-01,\n` })).toMatch(
			/^observation_period\.csv: line 2: observation_period_end_date is empty; expected a date/,
		);
		(await refused({ ...files, "observation_period.csv": `${period}1,x,2020-01-01\n` })).toMatch(
			/^observation_period\.csv: line 2: observation_period_start_date is "x"; expected a date/,
		);
		const concept = "concept_id,concept_name,vocabulary_id,concept_code\nx,a,b,c\n";
		(await refused({ ...files, "concept.csv": concept })).toMatch(
			/^concept\.csv: line 2: concept_id is "x"/,
		);
	});

	test("tables that are missing, duplicated, or requested but missing", async () => {
		const files = { "person.csv": person, "condition_era.csv": era };
		(await refused({ "condition_era.csv": era })).toMatch(
			/has no table person; expected person\.csv/,
		);
		(await refused({ "person.csv": person })).toMatch(
			/neither condition_occurrence nor condition_era/,
		);
		(await refused({ ...files, "person.tsv": person })).toMatch(
			/contains the table person twice: person\.csv and person\.tsv/,
		);
		(await refused(files, { conditions: "occurrence" })).toMatch(
			/no table condition_occurrence, which `conditions` occurrence asks for/,
		);
		(await refused(files, { drugTable: "era" })).toMatch(/drug_era, which `drugTable` era/);
		(await refused(files, { observations: true })).toMatch(/observation, which `observations`/);
		(await refused(files, { sourceSystem: "snomed" })).toMatch(
			/`sourceSystem` is "snomed"; expected/,
		);
		(await refused({ "person.parquet": person, "condition_era.csv": era })).toMatch(
			/person\.parquet is not a Parquet file/,
		);
	});

	test("no folder, a file for a folder, a folder for a file, both or neither", async () => {
		const folder = await temporaryFolder();
		await expect(openOmop(join(folder, "none"))).rejects.toThrow(/no such folder/);
		await writeFile(join(folder, "file"), "");
		await expect(openOmop(join(folder, "file"))).rejects.toThrow(/is a file; expected a folder/);
		await mkdir(join(folder, "person.csv"));
		await writeFile(join(folder, "condition_era.csv"), era);
		await expect(openOmop(folder).then(load)).rejects.toThrow(/person\.csv is a folder/);
		await expect(openOmop(undefined)).rejects.toThrow(/expected a folder of OMOP files, or `db`/);
		await expect(openOmop(folder, { db: "postgres://host/db" })).rejects.toThrow(
			/expected one of them/,
		);
		await expect(openOmop(folder, { schema: "cdm" })).rejects.toThrow(
			/`schema` is for a database; pass `db`/,
		);
		await expect(openOmop(folder, { vocabularySchema: "vocab" })).rejects.toThrow(
			/`vocabularySchema` is for a database/,
		);
	});
});
