/** A text as an SQL literal. */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name as an SQL identifier. */
export const named = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** A column of a file. */
export interface Column {
	readonly file: string;
	readonly name: string;
	/** The DuckDB type: VARCHAR, BIGINT, DATE… */
	readonly type: string;
	/** SQL for its values. */
	readonly sql: string;
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
	/** The locations of rows (from 1) in order, for messages. */
	places(rows: readonly number[]): Promise<string[]>;
	/** Turns an error of DuckDB about the file into an InputError; returns any other error unchanged. */
	explain(error: unknown): Promise<unknown>;
}
