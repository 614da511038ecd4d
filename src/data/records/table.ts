import { stat } from "node:fs/promises";
import { InputError, type InputErrorOptions } from "../../base/errors.js";
import { type BadRows, reportBad } from "./bad-rows.js";
import { explainBytes, fileKind, firstBytes } from "./bytes.js";
import { openDelimited } from "./delimited.js";
import { type Column, named, quoted, type Table } from "./sql.js";
import { literalPath, type Store, type Value } from "./store.js";

/** The column with the number of a row in its file, from 1. No file has a column of this name. */
export const rowOfFile = '"trajgpt row"';

const namesOf = (columns: readonly Column[]) =>
	[...new Set(columns.map(({ name }) => named(name)))].join(", ");

/**
 * Copies columns of a file into a new table `copy`, and returns SQL for its rows with their numbers (`rowOfFile`). The
 * copy is plain, so it has the order of the file: DuckDB returns the rows of a query in any order if it joins, which it
 * may do for an expression such as a long IN, too.
 */
export async function copyRows(
	store: Store,
	copy: string,
	columns: readonly Column[],
	source: string,
): Promise<string> {
	const names = namesOf(columns);
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
	columns: readonly Column[],
	work: (rows: string) => Promise<T>,
): Promise<T> {
	const hasNumbers =
		table.format === "parquet" &&
		!table.columns.some(({ name }) => name.toLowerCase() === "file_row_number");
	if (hasNumbers)
		return reading(table, () =>
			work(`(SELECT file_row_number + 1 AS ${rowOfFile}, ${namesOf(columns)} FROM ${table.sql})`),
		);
	const copy = '"trajgpt copy"';
	const rows = await reading(table, () => copyRows(store, copy, columns, table.sql));
	try {
		return await work(rows);
	} finally {
		await store.run(`DROP TABLE ${copy}`);
	}
}

/** Runs `work`; an error of DuckDB about the file becomes an InputError that names it. */
export async function reading<T>(table: Table, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		throw await table.explain(error);
	}
}

/** What may be wrong with a row. */
export interface Fault {
	/** An SQL condition. */
	readonly when: string;
	/** The message, after the location of the row: `: death is "soon"; expected …`. */
	readonly say: (row: Readonly<Record<string, Value>>) => string;
}

/** The locations of faulty rows, given their numbers. */
export type FaultPlaces = (
	numbers: readonly number[],
	rows: readonly Readonly<Record<string, Value>>[],
) => Promise<readonly string[]>;

/** SQL for the number of the first fault of a row; NULL if it has none. */
export const faultSql = (faults: readonly Fault[]): string =>
	`CASE ${faults.map(({ when }, number) => `WHEN ${when} THEN ${number}`).join(" ")} END`;

/**
 * Adds the rows of a table that have a fault to `bad`; without it, refuses the first. The table has the numbers of its
 * rows in `row`. Returns how many there are.
 */
export async function reportFaults(
	store: Store,
	from: string,
	faults: readonly Fault[],
	places: FaultPlaces,
	bad?: BadRows,
	details?: InputErrorOptions,
): Promise<number> {
	if (faults.length === 0) return 0;
	const faulty = `(SELECT *, ${faultSql(faults)} AS fault FROM ${from}) WHERE fault IS NOT NULL`;
	const count = await store.count(faulty);
	const explain = async (most: number) => {
		const rows = await store.all<{ row: number; fault: number }>(
			`SELECT * FROM ${faulty} ORDER BY row LIMIT ${most}`,
		);
		const located = await places(
			rows.map(({ row }) => row),
			rows,
		);
		return rows.map((row, at) => `${located[at]}${faults[row.fault]?.say(row)}`);
	};
	await reportBad(bad, count, explain, details);
	return count;
}

/**
 * Creates table `into` with the number of each row of a file (`row`) and the given columns, as SQL. Rows with a fault
 * are left out and added to `bad`; without it, the first is refused.
 */
export async function stageRows(
	store: Store,
	table: Table,
	into: string,
	columns: Readonly<Record<string, string>>,
	{
		reads = table.columns,
		faults,
		bad,
		details,
	}: {
		/** The columns of the file that are read; all by default. */
		readonly reads?: readonly Column[];
		readonly faults: readonly Fault[];
		readonly bad?: BadRows | undefined;
		/** More about the error of a refused row. */
		readonly details?: InputErrorOptions | undefined;
	},
): Promise<void> {
	const list = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
	await withNumberedRows(store, table, reads, (rows) =>
		store.run(
			`CREATE OR REPLACE TEMP TABLE ${into} AS SELECT ${rowOfFile} AS row, ${list.join(", ")} FROM ${rows}`,
		),
	);
	const count = await reportFaults(store, into, faults, table.places, bad, details);
	if (count > 0) await store.run(`DELETE FROM ${into} WHERE ${faultSql(faults)} IS NOT NULL`);
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
	return openDelimited(file, { delimiter });
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

export async function openParquet(store: Store, file: string): Promise<Table> {
	// Some writers do not mark text columns as text.
	const sql = `read_parquet(${quoted(literalPath(file))}, binary_as_string = true, hive_partitioning = false)`;
	try {
		const columns = await store.all<{ name: string; type: string }>(
			`SELECT column_name AS name, column_type AS type FROM (DESCRIBE SELECT * FROM ${sql})`,
		);
		return {
			file,
			format: "parquet",
			columns: columns.map(({ name, type }) => ({ file, name, type, sql: named(name) })),
			sql,
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
	const kinds =
		/^(Invalid|IO|Serialization|Conversion|Out of Range|Not implemented|INTERNAL|FATAL) /;
	return kinds.test(message)
		? say("corrupt or incomplete Parquet; copy or write the file again")
		: error;
}
