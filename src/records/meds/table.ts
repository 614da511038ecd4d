import { InputError } from "../../base/errors.js";
import { explainBytes, firstBytes } from "../bytes.js";
import type { DelimitedTable } from "../delimited.js";
import { explainDelimited, lineOfRow, literalPath, openDelimited } from "../delimited.js";
import type { Store } from "../store.js";
import { named, quoted } from "../store.js";

/** A file of columns as DuckDB sees it: Parquet, or CSV with all its columns text. */
export interface Table {
	readonly file: string;
	/** SQL for the table. */
	readonly sql: string;
	readonly columns: readonly Column[];
	readonly csv: DelimitedTable | undefined;
}

export interface Column {
	readonly name: string;
	/** As DuckDB says it. */
	readonly type: string;
}

export async function openTable(store: Store, file: string): Promise<Table> {
	if (!(await isParquet(file))) {
		const csv = await openDelimited(file);
		const columns = csv.columns.map((name) => ({ name, type: "VARCHAR" }));
		return { file, sql: csv.sql, columns, csv };
	}
	// Some writers leave out that their bytes are text.
	const sql = `read_parquet(${quoted(literalPath(file))}, binary_as_string = true, hive_partitioning = false, file_row_number = true)`;
	const table = { file, sql, columns: [], csv: undefined };
	const columns = await reading(table, () =>
		store.all<{ column_name: string; column_type: string }>(`DESCRIBE SELECT * FROM ${sql}`),
	);
	return {
		...table,
		columns: columns.map(({ column_name: name, column_type: type }) => ({ name, type })),
	};
}

async function isParquet(file: string): Promise<boolean> {
	if (/\.parquet$/i.test(file)) return true;
	try {
		return (await firstBytes(file, 4)).toString("latin1") === "PAR1";
	} catch (error) {
		throw explainBytes(file, error);
	}
}

/** Does what reads a table; what DuckDB says of the file comes out as an InputError that names it. */
export async function reading<T>(table: Table, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof InputError || !(error instanceof Error)) throw error;
		if (table.csv) throw await explainDelimited(table.csv, error);
		if (/\bfile_row_number\b/.test(error.message))
			throw new InputError(
				`${table.file} has a column file_row_number, which DuckDB needs for itself; give it another name`,
				{ cause: error },
			);
		if (/\bpermission denied\b/i.test(error.message))
			throw new InputError(`${table.file}: permission denied; check who may read it`, {
				cause: error,
			});
		if (/^(Invalid|IO|Serialization|Not implemented|INTERNAL|FATAL) /.test(error.message))
			throw new InputError(
				`${table.file} cannot be read as Parquet: it is damaged, or was not written to its end; copy or make it again`,
				{ cause: error },
			);
		throw error;
	}
}

export interface Wanted {
	/** The standard's name first, then others that mean the same. */
	readonly names: readonly string[];
	/** DuckDB's types that will do. */
	readonly types: RegExp;
	/** The type in the standard's words. */
	readonly expected: string;
}

/** A column by name, whatever its case, if the file has it. */
export function findColumn({ file, columns }: Table, wanted: Wanted): Column | undefined {
	for (const name of wanted.names) {
		const column = columns.find((one) => one.name.toLowerCase() === name);
		if (!column) continue;
		if (wanted.types.test(column.type)) return column;
		throw new InputError(
			`${file}: column ${column.name} is ${column.type}; expected ${wanted.expected}`,
		);
	}
	return undefined;
}

export function needColumn(table: Table, wanted: Wanted): Column {
	const column = findColumn(table, wanted);
	if (column) return column;
	const names = table.columns
		.map(({ name }) => name)
		.filter((name) => table.csv || name !== "file_row_number");
	throw new InputError(
		`${table.file} has no column ${wanted.names[0]}; it has ${names.slice(0, 20).join(", ")}; expected the columns of MEDS (subject_id, time, code), or read it with --from ${table.csv ? "csv" : "parquet"}`,
	);
}

export const textType = /^VARCHAR$/;
export const idType = /^(U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|VARCHAR|UUID)$/;

/** SQL for an identifier as text. */
export const idText = ({ name, type }: Column): string =>
	type === "VARCHAR" ? `trim(${named(name)})` : `CAST(${named(name)} AS VARCHAR)`;

/** Where a row stands, rows counted from 1. */
export async function placeOf({ file, csv }: Table, row: number): Promise<string> {
	return csv ? `${file}: line ${await lineOfRow(csv, row)}` : `${file}: row ${row}`;
}
