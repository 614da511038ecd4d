import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { quoted } from "../../sql.js";
import { writeParquet as writeSql } from "../../testing/write-parquet.js";
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

/** Tables of text: a line with the name and the columns, then a line per row; fields are separated by semicolons. */
function tablesOf(text: string): Cdm {
	const tables = text.trim().split(/\n\n/);
	return Object.fromEntries(
		tables.map((table) => {
			const [[name = "", ...columns] = [], ...rows] = table
				.split("\n")
				.map((line) => line.split(";").map((field) => field.trim()));
			const fields = (row: readonly string[]) =>
				columns.map((column, at) => [column, row[at] ?? ""]);
			return [name, rows.map((row) => Object.fromEntries(fields(row)))];
		}),
	);
}

/** A small CDM: two people and what befell them, told by source concepts, source values and neither. */
export const cdm: Cdm = tablesOf(`
person; person_id; gender_concept_id; year_of_birth; month_of_birth; day_of_birth; birth_datetime
1; 8507; 1950; 3; 9
2; 8532; 1961; 5
3; 8551; 1972
4; 0; 1980; ; ; 1980-02-29 06:00:00

death; person_id; death_date
2; 2021-06-01

observation_period; observation_period_id; person_id; observation_period_start_date; observation_period_end_date; period_type_concept_id
1; 1; 2015-01-01; 2019-12-31; 44814724
2; 1; 2020-01-01; 2020-03-31; 44814724
3; 2; 2019-01-01; 2021-06-01; 44814724

condition_occurrence; condition_occurrence_id; person_id; condition_concept_id; condition_start_date; condition_source_value; condition_source_concept_id; condition_start_datetime; condition_type_concept_id
1; 1; 201826; 2020-01-31; 250.00; 44833365; ; 32020
2; 1; 201826; 2020-02-01; ; 0; ; 32020
3; 2; 320128; 2019-12-01; I10; 35207668; ; 32020
4; 2; 4024552; 2019-11-01; ; 0; ; 32020
5; 3; 0; 2018-07-07; V45.01; 0; ; 32020
6; 3; 0; 2018-07-08; ; 0; ; 32020
7; 4; 0; 2018-07-09; ; 44833365; ; 32020
8; 4; 255848; 2018-07-10; ; 0; 2018-07-10 12:00:00; 32020

condition_era; condition_era_id; person_id; condition_concept_id; condition_era_start_date; condition_era_end_date
1; 1; 201826; 2020-01-30; 2020-02-01

drug_exposure; drug_exposure_id; person_id; drug_concept_id; drug_exposure_start_date; drug_exposure_end_date; drug_source_concept_id
1; 1; 1503297; 2020-02-02; 2020-02-02; 0
2; 1; 0; 2020-02-03; 2020-02-03; 45000001
3; 2; 21600001; 2020-02-04; 2020-02-04; 0
4; 2; 0; 2020-02-05; 2020-02-05; 0

observation; observation_id; person_id; observation_concept_id; observation_date; observation_source_value; observation_source_concept_id
1; 1; 4000000; 2020-03-01; V10.3; 44820000
2; 1; 0; 2020-03-02; G8445; 2617844
`);

/** What a download of vocabularies would hold for it. */
export const vocabulary: Cdm = tablesOf(`
concept; concept_id; concept_name; vocabulary_id; concept_code; invalid_reason
44833365; Diabetes without complication; ICD9CM; 250.00
35207668; Essential hypertension; ICD10CM; I10
44820000; History of breast cancer; ICD9CM; V10.3
45500001; Diabetes, "type 2"; ICD10CM; E11.9
45500002; Diabetes with kidney complication; ICD10CM; E11.2
45500003; Old diabetes; ICD10CM; E1; D
201826; Type 2 diabetes mellitus; SNOMED; 44054006
320128; Essential hypertension; SNOMED; 59621000
255848; Pneumonia; SNOMED; 233604007
4024552; Unmapped finding; SNOMED; 123
1503297; metformin; RxNorm; 6809
45000001; metformin 500 mg; NDC; 00093104801
21600001; antidiabetics; ATC; A10
2617844; a report; HCPCS; G8445
9999999; never used; RxNorm; 1

concept_relationship; concept_id_1; concept_id_2; relationship_id; invalid_reason
201826; 45500001; Mapped from
45500002; 201826; Maps to
201826; 45500003; Mapped from
201826; 44833365; Mapped from
255848; 45500001; Mapped from; D
255848; 35207668; Subsumes
`);

const csv = (fields: readonly string[]): string =>
	fields
		.map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
		.join(",");

const lines = (rows: readonly string[]): string => rows.map((row) => `${row}\n`).join("");

/** The tables as cells of a case (see `formatCases`). */
export const cellsOf = (tables: Cdm): string =>
	Object.entries(tables)
		.map(([table, rows]) => [
			`${table}.csv: ${csv(columnsOf(table))}`,
			...rows.map((row) => csv(fieldsOf(columnsOf(table), row))),
		])
		.map((lines) => lines.map((line) => `${line}\\n`).join(""))
		.join(" | ");

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
	for (const table of Object.keys(tables))
		await writeSql(
			join(to, `${table.toUpperCase()}.parquet`),
			`SELECT * FROM read_csv(${quoted(join(from, `${table}.csv`))}, header = true)`,
		);
}
