import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { OmopOptions } from "../options.js";
import { checkCase, folderOf, formatCases, refused, rowsOf } from "../testing/format-cases.js";
import { load } from "../testing/load.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openOmop } from "./index.js";
import { type Cdm, cdm, cellsOf, vocabulary, writeCdm, writeParquet } from "./testing/cdm.js";

const day = (date: string) => Date.parse(`${date}Z`) / 86_400_000;
const check = (_: string, cells: readonly string[]) => checkCase(cells, openOmop);

const { condition_era: _, ...withoutEras } = cdm;
const { observation_period: __, ...withoutPeriods } = cdm;
const { condition_occurrence: ___, drug_exposure: ____, ...eras } = cdm;
const { person = [], observation_period = [] } = cdm;
const { concept = [] } = vocabulary;
const twice = concept.flatMap((row) => [row, { ...row, concept_code: `${row.concept_code}9` }]);
const all = cellsOf(cdm);
const noDrugs = cellsOf({ ...withoutEras, drug_exposure: [] });
const named = cellsOf({ ...cdm, ...vocabulary });
const drugEra = String.raw`drug_era.csv: drug_era_id,person_id,drug_concept_id,drug_era_start_date\n1,2,5,2020-05-05\n`;
const reversed = {
	person_id: 3,
	observation_period_start_date: "2020-02-01",
	observation_period_end_date: "2020-01-31",
};
const glucose = {
	...withoutEras,
	drug_exposure: [],
	concept: [
		...[
			{
				concept_id: 3_004_501,
				concept_name: "Glucose",
				vocabulary_id: "LOINC",
				concept_code: "2345-7",
			},
		],
		...[{ concept_id: 8753, concept_name: "mmol", vocabulary_id: "UCUM", concept_code: "mmol/L" }],
	],
};
const measurements = String.raw`${cellsOf(glucose)} | measurement.csv: measurement_id,person_id,measurement_concept_id,measurement_date,value_as_number,unit_concept_id,unit_source_value\n1,1,3004501,2020-01-01,5.5,8753,\n2,1,3004501,2020-01-02,99,8840,\n3,1,3004501,2020-01-03,7,,mmol\n4,1,3004501,2020-01-04,high,0,\n`;
/** A source code that is mapped to two concepts: of one person and day, of other days, people, codes and concepts. */
const repeated = String.raw`${cellsOf({ person: person.slice(0, 3) })} | condition_occurrence.csv: person_id,condition_concept_id,condition_start_date,condition_source_value,condition_source_concept_id\n1,201826,2020-01-31,250.00,44833365\n1,320128,2020-01-31,250.00,44833365\n1,201826,2020-01-31,250.00,44833365\n1,320128,2020-02-01,250.00,44833365\n2,320128,2020-01-31,250.00,44833365\n2,255848,2020-01-31,I10,35207668\n3,201826,2020-01-31,,0\n3,4024552,2020-01-31,,0\n`;
const withoutCodes =
	"1 201826 OMOP ; 1 201826 OMOP ; 2 320128 OMOP ; 2 4024552 OMOP ; 4 44833365 OMOP ; 4 255848 OMOP";
const repeats =
	"1 more rows repeat the source code of another, of the same person and time, under a second concept: one record each time";

const readings = String.raw`
people by the parts of their birth, sex by concept, and deaths | ${all} | axis: dates | people: 1 ${day("1950-03-09")} male ; 2 ${day("1961-05-01")} female ; 3 ${day("1972-07-01")} ; 4 ${day("1980-02-29") + 0.25} ; 2 ${day("2021-06-01")} | notes: 1 people have a year of birth alone: 1 July was taken & 1 people have a year and month of birth alone: the 1st was taken & 2 people have a gender other than 8507 or 8532: not known
patients who are not in person | ${cellsOf({ ...cdm, person: person.slice(0, 3) })} | notes: 1 patients are not in & person.csv
observation periods | ${all} | periods: 1 ${day("2015-01-01")} ${day("2019-12-31")} ; 1 ${day("2020-01-01")} ${day("2020-03-31")} ; 2 ${day("2019-01-01")} ${day("2021-06-01")} | observation: observation_period
no table of periods | ${cellsOf(withoutPeriods)} | observation: undefined
no periods in their table | ${cellsOf({ ...cdm, observation_period: [] })} | observation: undefined | notes: observation_period.csv contains no rows
periods that end before they start | ${cellsOf({ ...cdm, observation_period: [...observation_period, reversed] })} | periods(patient): 1 ; 1 ; 2 | notes: observation_period: 1 row ends before the start: left out
concepts without a vocabulary | ${all} | records(patient code system): ${withoutCodes} ; 1 1503297 OMOP ; 1 45000001 OMOP ; 2 21600001 OMOP | names: | notes: condition_occurrence: 2 rows left out: concept 0 and no source code; 1 of them have a source value: pass --source-system to use it & drug_exposure: 1 rows left out: concept 0 and no source code
times and kinds | ${all} | records(time kind): ${["2020-01-31", "2020-02-01", "2019-12-01", "2019-11-01", "2018-07-09"].map((date) => `${day(date)} diagnosis`).join(" ; ")} ; ${day("2018-07-10") + 0.5} diagnosis ; ${day("2020-02-02")} drug ; ${day("2020-02-03")} drug ; ${day("2020-02-04")} drug
measurements with values, by the unit's code or as the source names it | ${measurements} | {"measurements": true} | records(code system value unit): 201826 OMOP null ; 201826 OMOP null ; 320128 OMOP null ; 4024552 OMOP null ; 44833365 OMOP null ; 255848 OMOP null ; 2345-7 LOINC 5.5 mmol/L ; 2345-7 LOINC 99 8840 ; 2345-7 LOINC 7 mmol ; 2345-7 LOINC null
no measurements unless asked | ${measurements} | records(kind): diagnosis ; diagnosis ; diagnosis ; diagnosis ; diagnosis ; diagnosis
source values of a system | ${noDrugs} | {"sourceSystem": "icd9"} | records(patient code system): 1 250.00 ICD9CM ; 1 201826 OMOP ; 2 I10 ICD9CM ; 2 4024552 OMOP ; 3 V45.01 ICD9CM ; 4 44833365 OMOP ; 4 255848 OMOP | notes: drug_exposure.csv contains no rows
source concepts, then codes mapped to the concept | ${named} | records(patient code system): 1 250.00 ICD9CM ; 1 E11.2 ICD10CM ; 2 I10 ICD10CM ; 2 4024552 OMOP ; 4 250.00 ICD9CM ; 4 255848 OMOP ; 1 6809 RxNorm ; 1 00093104801 NDC ; 2 A10 ATC | names: ATC A10 antidiabetics ; ICD10CM E11.2 Diabetes with kidney complication ; ICD10CM I10 Essential hypertension ; ICD9CM 250.00 Diabetes without complication ; NDC 00093104801 metformin 500 mg ; OMOP 255848 Pneumonia ; OMOP 4024552 Unmapped finding ; RxNorm 6809 metformin | notes: condition_occurrence: 1 rows of 1 concepts could be several ICD codes; the shortest was taken, then the first in order & condition_occurrence: 8 rows: 25.0 % ICD10CM, 25.0 % ICD9CM, 25.0 % OMOP
the first of several codes of a concept | ${cellsOf({ ...cdm, ...vocabulary, concept: twice })} | records(patient code system): 1 250.00 ICD9CM ; 1 E11.2 ICD10CM ; 2 I10 ICD10CM ; 2 4024552 OMOP ; 4 250.00 ICD9CM ; 4 255848 OMOP ; 1 6809 RxNorm ; 1 00093104801 NDC ; 2 A10 ATC
several codes of the system that is asked for | ${named} | {"sourceSystem": "icd9"} | records(patient code system): 1 250.00 ICD9CM ; 1 250.00 ICD9CM ; 2 I10 ICD10CM ; 2 4024552 OMOP ; 3 V45.01 ICD9CM ; 4 250.00 ICD9CM ; 4 255848 OMOP ; 1 6809 RxNorm ; 1 00093104801 NDC ; 2 A10 ATC
names without relations | ${cellsOf({ ...withoutEras, drug_exposure: [], concept })} | records(patient code system): 1 250.00 ICD9CM ; 1 201826 OMOP ; 2 I10 ICD10CM ; 2 4024552 OMOP ; 4 250.00 ICD9CM ; 4 255848 OMOP | names: ICD10CM I10 Essential hypertension ; ICD9CM 250.00 Diabetes without complication ; OMOP 201826 Type 2 diabetes mellitus ; OMOP 255848 Pneumonia ; OMOP 4024552 Unmapped finding
a source concept under two concepts | ${repeated} | ${cellsOf(vocabulary)} | records(patient time code system): 1 18292 250.00 ICD9CM ; 1 18292 250.00 ICD9CM ; 1 18293 250.00 ICD9CM ; 2 18292 250.00 ICD9CM ; 2 18292 I10 ICD10CM ; 3 18292 E11.2 ICD10CM ; 3 18292 4024552 OMOP | notes: ${repeats} & condition_occurrence: 7 rows: 57.1 % ICD9CM, 28.6 % ICD10CM, 14.3 % OMOP
a source value under two concepts | ${repeated} | {"sourceSystem": "icd9"} | records(patient code system): 1 250.00 ICD9CM ; 1 250.00 ICD9CM ; 1 250.00 ICD9CM ; 2 250.00 ICD9CM ; 2 I10 ICD9CM ; 3 201826 OMOP ; 3 4024552 OMOP | notes: ${repeats}
two concepts that are the codes | ${repeated} | records(patient code): 1 201826 ; 1 320128 ; 1 201826 ; 1 320128 ; 2 320128 ; 2 255848 ; 3 201826 ; 3 4024552
eras of conditions | ${cellsOf({ ...cdm, drug_exposure: [] })} | {"conditions": "era"} | records(patient time code): 1 ${day("2020-01-30")} 201826
eras if there is nothing else | ${cellsOf(eras)} | ${drugEra} | records(patient code): 1 201826 ; 2 5
eras of drugs | ${cellsOf({ ...cdm, condition_occurrence: cdm.condition_occurrence?.slice(1, 2) ?? [] })} | ${drugEra} | {"drugTable": "era"} | records(patient code): 1 201826 ; 2 5
observations whose source is an ICD code | ${cellsOf({ ...eras, ...vocabulary })} | {"observations": true} | records(patient code system): 1 E11.2 ICD10CM ; 1 V10.3 ICD9CM | notes: observation: 1 rows left out, for their source is no ICD code
observations whose source looks like an ICD code | ${cellsOf(eras)} | {"observations": true, "sourceSystem": "icd9"} | records(patient code system): 1 201826 OMOP ; 1 V10.3 ICD9CM
observations without codes | ${cellsOf(eras)} | {"observations": true} | records(patient code): 1 201826 | notes: observation: 2 rows left out, for their source is no ICD code
a map of concepts to ICD-9 | ${noDrugs} | map.csv: condition_concept_id,icd9_most_frequent,n_icd9\n201826,25000,3\n | {"conceptMap": "map.csv"} | records(patient code system): ${withoutCodes.replaceAll("201826 OMOP", "25000 ICD9CM")}
a map of concepts to ICD-10 | ${noDrugs} | map.csv: ICD10CM,Concept_ID\nE119,201826\n,320128\nE119,201826\n | {"conceptMap": "map.csv"} | records(patient code system): ${withoutCodes.replaceAll("201826 OMOP", "E119 ICD10CM")}
a map of concepts to the system that is asked for | ${noDrugs} | map.csv: concept_id,icd_code\n201826,E119\n | {"conceptMap": "map.csv", "sourceSystem": "icd10"} | records(code): 250.00 ; E119 ; I10 ; 4024552 ; V45.01 ; 44833365 ; 255848
a map of concepts to one of two systems | ${noDrugs} | map.csv: concept_id,icd9,icd10\n201826,25000,E119\n | {"conceptMap": "map.csv", "sourceSystem": "icd9"} | records(code): 250.00 ; 25000 ; I10 ; 4024552 ; V45.01 ; 44833365 ; 255848
upper case, Windows line ends, a byte order mark, 8507.0 and quotes in tabs | PERSON.CSV: \ufeffPERSON_ID,GENDER_CONCEPT_ID,YEAR_OF_BIRTH\r\n1.0,8507.0,1950.0\r\n | Condition_Era.tsv: "Person_Id"\t"Condition_Concept_Id"\t"Condition_Era_Start_Date"\n"1"\t"7"\t"20200131"\n | CONCEPT.csv: concept_id\tconcept_name\tvocabulary_id\tconcept_code\n7\tsuch as "this" one\tSNOMED\t8\n9\t"open\tSNOMED\t8\n | people: 1 ${day("1950-07-01")} male | records(patient time code): 1 ${day("2020-01-31")} 7 | names(code name): 7 such as "this" one
`;
test.each(formatCases(readings))("reads %s", check);

test("a person's place is their row", async () => {
	const folder = await temporaryFolder();
	await writeCdm(folder, cdm);
	const { people } = await load(await openOmop(folder));
	expect(people[1]?.place).toMatch(/person\.csv: row 2$/);
	expect(people[4]?.place).toMatch(/death\.csv: row 1$/);
});

test("TSV without header, gzip and Parquet yield the same as CSV", async () => {
	const tables: Cdm = { ...cdm, ...vocabulary };
	const csv = await temporaryFolder();
	await writeCdm(csv, tables);
	const read = async (folder: string) => load(await openOmop(folder, { observations: true }));
	const want = await read(csv);
	const [tsv, packed, parquet] = [
		await temporaryFolder(),
		await temporaryFolder(),
		await temporaryFolder(),
	];
	await writeCdm(tsv, tables, "tsv");
	await writeCdm(packed, tables, "csv.gz");
	await writeParquet(csv, parquet, tables);
	for (const folder of [tsv, packed, parquet]) {
		const got = await read(folder);
		for (const rows of ["records", "people", "names", "periods"] as const)
			expect(rowsOf(got[rows])).toEqual(rowsOf(want[rows]));
		const { notes } = got;
		expect(notes.filter((note) => !note.startsWith("no header"))).toEqual(want.notes);
		expect(notes.some((note) => note.startsWith("no header"))).toBe(folder === tsv);
	}
});

const people = String.raw`person.csv: person_id,gender_concept_id,year_of_birth\n1,8507,1950\n`;
const era = String.raw`condition_era.csv: person_id,condition_concept_id,condition_era_start_date\n1,7,2020-01-31\n`;
const both = `${people} | ${era}`;
const born = "person.csv: person_id,year_of_birth";
const period =
	"observation_period.csv: person_id,observation_period_start_date,observation_period_end_date";
const map = `${noDrugs} | {"conceptMap": "map.csv"} | map.csv:`;
const refusals = String.raw`
a day that is none | ${both}\n1,7,2020-01-31\n\n1,7,2020-13-01\n | refused: condition_era.csv: line 6: condition_era_start_date is "2020-13-01"; expected a date such as 2020-01-31
another form of dates | ${both}1,7,31/01/2020\n | refused: condition_era_start_date is "31/01/2020"; expected a date
no date | ${both}1,7,\n | refused: condition_era_start_date is empty; expected a date
infinity | ${both}1,7,infinity\n | refused: condition_era_start_date is "infinity"; expected a date
a short year | ${both}1,7,1/2/20\n | refused: condition_era_start_date is "1/2/20"; expected a date
the year 1 | ${both}1,7,0001-02-20\n | refused: is "0001-02-20"; & expected a year between 1800 and 2300
no person | ${both},7,2020-01-31\n | refused: line 3: person_id is empty; every row needs the number of a person
a code for a concept | ${both}1,E11.9,2020-01-31\n | refused: line 3: condition_concept_id is "E11.9"; expected a whole number
no column of dates | ${people} | condition_era.csv: person_id,condition_concept_id\n1,7\n | refused: no column condition_era_start_date; it has person_id, condition_concept_id;
no conditions | ${people} | condition_era.csv: person_id,condition_concept_id,condition_era_start_date\n | refused: contains no rows; expected one row per diagnosis
an empty file | ${people} | condition_era.csv: | refused: condition_era.csv is empty
neither header nor all columns | ${people} | condition_era.csv: 1,2,3\n | refused: first line has 3 fields and names no column of the table condition_era; expected a header such as person_id, & or 6 columns
a short line | ${both}1,7\n | refused: condition_era.csv: line 3 has 2 fields; expected 3
an open quote | ${both}1,"7,2020-01-31\n | refused: condition_era.csv: line 3: a quote is opened and never closed
no Parquet within | ${people} | condition_era.csv: PAR1 and so on | refused: condition_era.csv: corrupt or incomplete Parquet
no Parquet despite the name | condition_era.csv: x | PERSON.txt: x | refused: names no column of the table person
month 13 | ${era} | ${born},month_of_birth\n1,1950,13\n | refused: line 2: month_of_birth is "13"
30 February | ${era} | ${born},month_of_birth,day_of_birth\n1,1950,2,30\n | refused: line 2: day_of_birth is "30"
a word for a year | ${era} | ${born}\n1,soon\n | refused: line 2: year_of_birth is "soon"; expected a year between 1800 and 2300
a word for a birth | ${era} | ${born},birth_datetime\n1,1950,spring\n | refused: line 2: birth_datetime is "spring"
the year 20 | ${era} | ${born}\n1,20\n | refused: year_of_birth is "20"; expected a year between 1800
a person without a number | ${era} | ${born}\n,1950\n | refused: line 2: person_id is empty
no column of years | ${era} | person.csv: person_id,gender_concept_id\n1,8507\n | refused: person.csv has no column year_of_birth
no people | ${era} | ${born}\n | refused: person.csv contains no people
a death without a date | ${both} | death.csv: person_id,death_date\n1,\n | refused: death.csv: line 2: death_date is empty
a death in the year 9999 | ${both} | death.csv: person_id,death_date\n1,9999-12-31\n | refused: death.csv: line 2: death_date is "9999-12-31" & expected a year between 1800 and 2300
a period without an end | ${both} | ${period}\n1,2020-01-01,\n | refused: observation_period.csv: line 2: observation_period_end_date is empty; expected a date
a period without a start | ${both} | ${period}\n1,x,2020-01-01\n | refused: observation_period.csv: line 2: observation_period_start_date is "x"; expected a date
a concept without a number | ${both} | concept.csv: concept_id,concept_name,vocabulary_id,concept_code\nx,a,b,c\n | refused: concept.csv: line 2: concept_id is "x"
no table of people | ${era} | refused: has no table person; expected person.csv
no table of conditions | ${people} | refused: neither condition_occurrence nor condition_era
two tables of people | ${both} | ${people.replace("csv", "tsv")} | refused: contains the table person twice: person.csv and person.tsv
no occurrences | ${both} | {"conditions": "occurrence"} | refused: no table condition_occurrence, which ${"`conditions`"} occurrence asks for
no eras of drugs | ${both} | {"drugTable": "era"} | refused: drug_era, which ${"`drugTable`"} era
no observations | ${both} | {"observations": true} | refused: observation, which ${"`observations`"}
another system | ${both} | {"sourceSystem": "snomed"} | refused: ${"`sourceSystem`"} is "snomed"; expected
a folder and a database | ${both} | {"db": "postgres://host/db"} | refused: expected one of them
a schema of files | ${both} | {"schema": "cdm"} | refused: ${"`schema`"} is for a database; pass ${"`db`"}
a schema of vocabularies of files | ${both} | {"vocabularySchema": "vocab"} | refused: ${"`vocabularySchema`"} is for a database
a map of two systems | ${map} concept_id,icd9,icd10\n1,2,3\n | refused: icd9 and icd10; say which to take with ${"`sourceSystem`"}
a map of one system twice | ${map} concept_id,icd9_a,icd9_b\n1,2,3\n | refused: icd9_a and icd9_b; keep one
a map of an unknown system | ${map} concept_id,icd\n1,2\n | refused: column icd does not say which ICD it holds; pass ${"`sourceSystem`"}
a map without codes | ${map} concept_id,code\n1,2\n | refused: has no column of ICD codes; it has concept_id, code; expected
a map without concepts | ${map} id,icd9\n1,2\n | refused: has no column of concepts; it has id, icd9; expected
a word for a concept in a map | ${map} concept_id,icd9\n1,2\nx,2\n | refused: map.csv: line 3: concept_id is "x"; expected the number
two codes for a concept in a map | ${map} concept_id,icd9\n1,2\n5,6\n1,3\n | refused: line 4 gives concept 1 another code
an empty map | ${map} | refused: map.csv is empty
`;
describe("refuses", () => {
	test.each(formatCases(refusals))("%s", check);

	test("bytes that are no text, and paths that are none", async () => {
		const person = "person_id,gender_concept_id,year_of_birth\n1,8507,1950\n";
		const header = "person_id,condition_concept_id,condition_era_start_date\n";
		const read = async (bytes: string, options?: OmopOptions) => {
			const conditions = Buffer.from(bytes, "latin1");
			const folder = await folderOf({ "person.csv": person, "condition_era.csv": conditions });
			return load(await openOmop(folder, options));
		};
		await refused(read(`${header}1,7\xff,2020-01-31\n`), "condition_era.csv: line 2 is not UTF-8");
		await refused(read("\x1f\x8b\x08 no gzip"), "condition_era.csv", "gzip");
		const folder = await folderOf({
			"person.parquet": Buffer.from(person),
			"condition_era.csv": "",
		});
		await refused(openOmop(folder).then(load), "person.parquet is not a Parquet file");
		await refused(openOmop(join(folder, "none")), "no such folder");
		await refused(openOmop(join(folder, "condition_era.csv")), "is a file; expected a folder");
		await refused(openOmop(undefined), "expected a folder of OMOP files, or `db`");
		const other = await folderOf({ "condition_era.csv": header });
		await mkdir(join(other, "person.csv"));
		await writeFile(join(other, "person.csv", "x"), "");
		await refused(openOmop(other).then(load), "person.csv is a folder");
	});
});
