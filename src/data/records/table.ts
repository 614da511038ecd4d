import { stat } from "node:fs/promises";
import { InputError } from "../../base/errors.js";
import { explainBytes, fileKind, firstBytes } from "./bytes.js";
import { type DelimitedTable, explainDelimited, linesOfRows, openDelimited } from "./delimited.js";
import { named, quoted } from "./sql.js";
import { literalPath, type Store } from "./store.js";

export interface Column {
	readonly name: string;
	/** The DuckDB type: VARCHAR, BIGINT, DATE… */
	readonly type: string;
}

/** A file that DuckDB reads as a table: delimited text (all columns VARCHAR) or Parquet. */
export interface Table {
	readonly file: string;
	readonly format: "csv" | "parquet";
	readonly columns: readonly Column[];
	/** SQL for the table. */
	readonly sql: string;
	/** SQL for the table with a text column read as dates: faster, but fails if a value is not a date. */
	dated?(column: string): string;
	/** The location of a row (from 1), for messages. */
	place(row: number): Promise<string>;
	/** The same of several rows in order. */
	places(rows: readonly number[]): Promise<string[]>;
	/** Turns an error of DuckDB about the file into an InputError; returns any other error unchanged. */
	explain(error: unknown): Promise<unknown>;
}

/** A column with its SQL. */
export interface Found extends Column {
	readonly table: Table;
	readonly sql: string;
}

/** The column with the number of a row in its file, from 1. No file has a column of this name. */
export const rowOfFile = '"trajgpt row"';

/**
 * Copies columns of a file into a new table `copy`, and returns SQL for its rows with their numbers (`rowOfFile`). The
 * copy is plain, so it has the order of the file: DuckDB returns the rows of a query in any order if it joins, which it
 * may do for an expression such as a long IN, too.
 */
export async function copyRows(
	store: Store,
	copy: string,
	columns: readonly string[],
	source: string,
): Promise<string> {
	const names = [...new Set(columns)].map(named).join(", ");
	await store.run(`CREATE OR REPLACE TABLE ${copy} AS SELECT ${names} FROM ${source}`);
	return `(SELECT rowid + 1 AS ${rowOfFile}, ${names} FROM ${copy})`;
}

/**
 * Does some work with SQL for the rows of a table and their numbers (`rowOfFile`). Parquet files have these numbers;
 * rows of text are copied.
 */
export async function withNumberedRows<T>(
	store: Store,
	table: Table,
	columns: readonly string[],
	work: (rows: string) => Promise<T>,
): Promise<T> {
	const hasNumbers =
		table.format === "parquet" &&
		!table.columns.some(({ name }) => name.toLowerCase() === "file_row_number");
	if (hasNumbers) {
		const names = [...new Set(columns)].map(named).join(", ");
		return reading(table, () =>
			work(`(SELECT file_row_number + 1 AS ${rowOfFile}, ${names} FROM ${table.sql})`),
		);
	}
	const copy = '"trajgpt copy"';
	const rows = await reading(table, () => copyRows(store, copy, columns, table.sql));
	try {
		return await work(rows);
	} finally {
		await store.run(`DROP TABLE ${copy}`);
	}
}

/** Runs `work`; an error of DuckDB about the file becomes an InputError that names it. */
export async function reading<T>(
	table: Pick<Table, "explain">,
	work: () => Promise<T>,
): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw await table.explain(error);
	}
}

/** Opens a file by its content, not by its name. */
export async function openTable(
	store: Store,
	file: string,
	delimiter?: string | undefined,
): Promise<Table> {
	if (await isParquet(file)) return openParquet(store, file);
	const kind = await fileKind(file);
	if (kind !== undefined && kind !== "text table")
		throw new InputError(`${file} is JSON; expected a table: delimited text or Parquet`);
	return delimitedTable(await openDelimited(file, { delimiter }));
}

export async function isParquet(file: string): Promise<boolean> {
	try {
		if ((await stat(file)).isDirectory())
			throw new InputError(`${file} is a folder; expected a file`);
		if ((await firstBytes(file, 4)).toString("latin1") === "PAR1") return true;
	} catch (error) {
		throw explainBytes(file, error);
	}
	if (/\.(parquet|parq|pq)$/i.test(file))
		throw new InputError(`${file} is not a Parquet file despite its name; copy or write it again`);
	return false;
}

export function delimitedTable(table: DelimitedTable): Table {
	const places = async (rows: readonly number[]) =>
		(await linesOfRows(table, rows)).map((line) => `${table.file}: line ${line}`);
	return {
		file: table.file,
		format: "csv",
		columns: table.columns.map((name) => ({ name, type: "VARCHAR" })),
		sql: table.sql,
		dated: (column) => table.datedSql(column),
		place: async (row) => (await places([row]))[0] as string,
		places,
		explain: (error) => explainDelimited(table, error),
	};
}

export async function openParquet(store: Store, file: string): Promise<Table> {
	// Some writers do not mark text columns as text.
	const sql = `read_parquet(${quoted(literalPath(file))}, binary_as_string = true, hive_partitioning = false)`;
	try {
		const described = await store.all<{ column_name: string; column_type: string }>(
			`DESCRIBE SELECT * FROM ${sql}`,
		);
		return {
			file,
			format: "parquet",
			columns: described.map((row) => ({ name: row.column_name, type: row.column_type })),
			sql,
			place: async (row) => `${file}: row ${row}`,
			places: async (rows) => rows.map((row) => `${file}: row ${row}`),
			explain: async (error) => explainParquet(file, error),
		};
	} catch (error) {
		throw explainParquet(file, error);
	}
}

function explainParquet(file: string, error: unknown): unknown {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const { message } = error;
	const say = (text: string) => new InputError(`${file}: ${text}`, { cause: error });
	if (/\bpermission denied\b/i.test(message))
		return say("permission denied; check who may read it");
	if (/encrypted/i.test(message)) return say("encrypted Parquet; decrypt it first");
	if (/string encoding|utf-?8/i.test(message))
		return say("a text in it is not UTF-8; write it again with text as UTF-8");
	if (
		/^(Invalid|IO|Serialization|Conversion|Out of Range|Not implemented|INTERNAL|FATAL) /.test(
			message,
		)
	)
		return say("corrupt or incomplete Parquet; copy or write the file again");
	return error;
}
