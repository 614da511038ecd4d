import { stat } from "node:fs/promises";
import { InputError } from "../../base/errors.js";
import { explainBytes, firstBytes } from "../bytes.js";
import { explainDelimited, lineOfRow, literalPath, openDelimited } from "../delimited.js";
import { quoted, type Store } from "../store.js";

export interface Column {
	readonly name: string;
	/** As DuckDB calls it: VARCHAR, BIGINT, DATE… */
	readonly type: string;
}

/** A file that DuckDB reads as a table: delimited text or Parquet. */
export interface Table {
	readonly file: string;
	readonly format: "csv" | "parquet";
	readonly columns: readonly Column[];
	/** SQL for the table. */
	readonly sql: string;
	/** Where a row stands, in words; rows are counted from 1. */
	place(row: number): Promise<string>;
	/** What DuckDB could not read, as an InputError. */
	explain(error: unknown): Promise<unknown>;
}

/** Opens a file as what its content says it is. */
export async function openTable(
	store: Store,
	file: string,
	delimiter?: string | undefined,
): Promise<Table> {
	return (await isParquet(file)) ? openParquetFile(store, file) : openText(file, delimiter);
}

async function isParquet(file: string): Promise<boolean> {
	try {
		if ((await stat(file)).isDirectory())
			throw new InputError(`${file} is a folder; expected a file`);
		return (await firstBytes(file, 4)).toString("latin1") === "PAR1";
	} catch (error) {
		throw explainBytes(file, error);
	}
}

async function openText(file: string, delimiter: string | undefined): Promise<Table> {
	if (/\.(parquet|pq|parq)$/i.test(file))
		throw new InputError(`${file} is not a Parquet file, whatever its name says; write it again`);
	const table = await openDelimited(file, { delimiter });
	return {
		file,
		format: "csv",
		columns: table.columns.map((name) => ({ name, type: "VARCHAR" })),
		sql: table.sql,
		place: async (row) => `${file}: line ${await lineOfRow(table, row)}`,
		explain: (error) => explainDelimited(table, error),
	};
}

async function openParquetFile(store: Store, file: string): Promise<Table> {
	const sql = `read_parquet(${quoted(literalPath(file))}, binary_as_string = true, hive_partitioning = false)`;
	const explain = async (error: unknown) => explainParquet(file, error);
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
			explain,
		};
	} catch (error) {
		throw await explain(error);
	}
}

function explainParquet(file: string, error: unknown): unknown {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const say = (text: string) => new InputError(`${file}: ${text}`, { cause: error });
	if (/encrypted/i.test(error.message)) return say("encrypted Parquet; decrypt it first");
	if (/string encoding|utf-?8/i.test(error.message))
		return say("a text in it is not UTF-8; write it again with text as UTF-8");
	return say("corrupt or incomplete Parquet; copy or write the file again");
}
