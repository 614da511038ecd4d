import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DuckDBInstance } from "@duckdb/node-api";
import { quoted } from "../../sql.js";
import { cdmTables, columnOrderOf } from "../tables.js";

type Row = Readonly<Record<string, string | number>>;
/** Tables of a CDM by name; columns that are not named are empty. */
export type Cdm = Readonly<Record<string, readonly Row[]>>;

export function columnsOf(name: string): readonly string[] {
	const table = cdmTables.find((one) => one.name === name);
	return table ? columnOrderOf(table) : [];
}

export const fieldsOf = (columns: readonly string[], row: Row): string[] =>
	columns.map((column) => String(row[column] ?? ""));

/** A small CDM: two people and what befell them, told by source concepts, source values and neither. */
export const cdm: Cdm = {
	person: [
		{
			person_id: 1,
			gender_concept_id: 8507,
			year_of_birth: 1950,
			month_of_birth: 3,
			day_of_birth: 9,
		},
		{ person_id: 2, gender_concept_id: 8532, year_of_birth: 1961, month_of_birth: 5 },
		{ person_id: 3, gender_concept_id: 8551, year_of_birth: 1972 },
		{
			person_id: 4,
			gender_concept_id: 0,
			year_of_birth: 1980,
			birth_datetime: "1980-02-29 06:00:00",
		},
	],
	death: [{ person_id: 2, death_date: "2021-06-01" }],
	observation_period: [
		period(1, 1, "2015-01-01", "2019-12-31"),
		period(2, 1, "2020-01-01", "2020-03-31"),
		period(3, 2, "2019-01-01", "2021-06-01"),
	],
	condition_occurrence: [
		condition(1, 1, 201826, "2020-01-31", "250.00", 44_833_365),
		condition(2, 1, 201826, "2020-02-01", "", 0),
		condition(3, 2, 320128, "2019-12-01", "I10", 35_207_668),
		condition(4, 2, 4_024_552, "2019-11-01", "", 0),
		condition(5, 3, 0, "2018-07-07", "V45.01", 0),
		condition(6, 3, 0, "2018-07-08", "", 0),
		condition(7, 4, 0, "2018-07-09", "", 44_833_365),
		{
			...condition(8, 4, 255_848, "2018-07-10", "", 0),
			condition_start_datetime: "2018-07-10 12:00:00",
		},
	],
	condition_era: [
		{
			condition_era_id: 1,
			person_id: 1,
			condition_concept_id: 201826,
			condition_era_start_date: "2020-01-30",
			condition_era_end_date: "2020-02-01",
		},
	],
	drug_exposure: [
		drug(1, 1, 1_503_297, "2020-02-02", 0),
		drug(2, 1, 0, "2020-02-03", 45_000_001),
		drug(3, 2, 21_600_001, "2020-02-04", 0),
		drug(4, 2, 0, "2020-02-05", 0),
	],
	observation: [
		{
			observation_id: 1,
			person_id: 1,
			observation_concept_id: 4_000_000,
			observation_date: "2020-03-01",
			observation_source_value: "V10.3",
			observation_source_concept_id: 44_820_000,
		},
		{
			observation_id: 2,
			person_id: 1,
			observation_concept_id: 0,
			observation_date: "2020-03-02",
			observation_source_value: "G8445",
			observation_source_concept_id: 2_617_844,
		},
	],
};

/** What a download of vocabularies would hold for it. */
export const vocabulary: Cdm = {
	concept: [
		concept(44_833_365, "Diabetes without complication", "ICD9CM", "250.00"),
		concept(35_207_668, "Essential hypertension", "ICD10CM", "I10"),
		concept(44_820_000, "History of breast cancer", "ICD9CM", "V10.3"),
		concept(45_500_001, 'Diabetes, "type 2"', "ICD10CM", "E11.9"),
		concept(45_500_002, "Diabetes with kidney complication", "ICD10CM", "E11.2"),
		concept(45_500_003, "Old diabetes", "ICD10CM", "E1", "D"),
		concept(201_826, "Type 2 diabetes mellitus", "SNOMED", "44054006"),
		concept(320_128, "Essential hypertension", "SNOMED", "59621000"),
		concept(255_848, "Pneumonia", "SNOMED", "233604007"),
		concept(4_024_552, "Unmapped finding", "SNOMED", "123"),
		concept(1_503_297, "metformin", "RxNorm", "6809"),
		concept(45_000_001, "metformin 500 mg", "NDC", "00093104801"),
		concept(21_600_001, "antidiabetics", "ATC", "A10"),
		concept(2_617_844, "a report", "HCPCS", "G8445"),
		concept(9_999_999, "never used", "RxNorm", "1"),
	],
	concept_relationship: [
		relation(201_826, 45_500_001, "Mapped from"),
		relation(45_500_002, 201_826, "Maps to"),
		relation(201_826, 45_500_003, "Mapped from"),
		relation(201_826, 44_833_365, "Mapped from"),
		relation(255_848, 45_500_001, "Mapped from", "D"),
		relation(255_848, 35_207_668, "Subsumes"),
	],
};

function period(id: number, person: number, start: string, end: string): Row {
	return {
		observation_period_id: id,
		person_id: person,
		observation_period_start_date: start,
		observation_period_end_date: end,
		period_type_concept_id: 44_814_724,
	};
}

function condition(
	id: number,
	person: number,
	concept: number,
	date: string,
	source: string,
	sourceConcept: number,
): Row {
	return {
		condition_occurrence_id: id,
		person_id: person,
		condition_concept_id: concept,
		condition_start_date: date,
		condition_type_concept_id: 32_020,
		condition_status_concept_id: 0,
		condition_source_value: source,
		condition_source_concept_id: sourceConcept,
	};
}

function drug(id: number, person: number, concept: number, date: string, source: number): Row {
	return {
		drug_exposure_id: id,
		person_id: person,
		drug_concept_id: concept,
		drug_exposure_start_date: date,
		drug_exposure_end_date: date,
		drug_source_concept_id: source,
	};
}

function concept(id: number, name: string, vocabulary: string, code: string, invalid = ""): Row {
	return {
		concept_id: id,
		concept_name: name,
		vocabulary_id: vocabulary,
		concept_code: code,
		invalid_reason: invalid,
	};
}

function relation(first: number, second: number, relationship: string, invalid = ""): Row {
	return {
		concept_id_1: first,
		concept_id_2: second,
		relationship_id: relationship,
		invalid_reason: invalid,
	};
}

const csv = (fields: readonly string[]): string =>
	fields
		.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
		.join(",");

const lines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join("");

/** Writes the tables into a folder: CSV with a header, or TSV without one. */
export async function writeCdm(
	folder: string,
	tables: Cdm,
	format: "csv" | "tsv" | "csv.gz" = "csv",
): Promise<void> {
	for (const [table, rows] of Object.entries(tables)) {
		const columns = columnsOf(table);
		const text =
			format === "tsv"
				? lines(rows.map((row) => fieldsOf(columns, row).join("\t")))
				: lines([csv(columns), ...rows.map((row) => csv(fieldsOf(columns, row)))]);
		const file = join(folder, `${table}.${format}`);
		await writeFile(file, format === "csv.gz" ? gzipSync(text) : text);
	}
}

/** Turns each CSV file of `from` into a Parquet file, with the types that DuckDB finds. */
export async function writeParquet(from: string, to: string, tables: Cdm): Promise<void> {
	const instance = await DuckDBInstance.create(":memory:");
	const connection = await instance.connect();
	for (const table of Object.keys(tables))
		await connection.run(
			`COPY (SELECT * FROM read_csv(${quoted(join(from, `${table}.csv`))}, header = true))
			TO ${quoted(join(to, `${table.toUpperCase()}.parquet`))} (FORMAT parquet)`,
		);
	connection.closeSync();
	instance.closeSync();
}
