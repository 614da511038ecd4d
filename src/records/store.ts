import { join, resolve } from "node:path";
import type { DuckDBConnection, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import { DOUBLE, DuckDBDataChunk, DuckDBInstance, INTEGER, VARCHAR } from "@duckdb/node-api";
import duckdb from "@duckdb/node-bindings";
import { InputError } from "../base/errors.js";
import type { CodeNameRow, PersonRow, RecordRow } from "./rows.js";
import { recordKinds } from "./rows.js";
import { quoted } from "./sql.js";

export interface StoreOptions {
	/** The folder for data that does not fit in memory. It must exist; the caller removes it. */
	readonly folder: string;
	/** Memory limit of DuckDB in bytes. */
	readonly memory: number;
	readonly threads?: number | undefined;
	/** The files that SQL may read or write; access to any other file fails. */
	readonly files?: readonly string[] | undefined;
}

export type Value = string | number | boolean | null;

/** Columns of one chunk of a result, in the order of the query. */
export interface Chunk {
	readonly rows: number;
	readonly columns: readonly (readonly DuckDBValue[])[];
}

/** The tables that a reader fills; rowid preserves the order of the source. */
const tables = {
	record: [
		["patient", VARCHAR],
		["time", DOUBLE],
		["code", VARCHAR],
		["system", VARCHAR],
		["kind", VARCHAR],
		["value", DOUBLE],
	],
	person: [
		["patient", VARCHAR],
		["birth", DOUBLE],
		["sex", VARCHAR],
		["death", DOUBLE],
		["split", VARCHAR],
		["place", VARCHAR],
	],
	code_name: [
		["system", VARCHAR],
		["code", VARCHAR],
		["name", VARCHAR],
		["category", VARCHAR],
		["kind", VARCHAR],
	],
} as const satisfies Record<string, readonly (readonly [string, DuckDBType])[]>;

interface Rows {
	readonly record: RecordRow;
	readonly person: PersonRow;
	readonly code_name: CodeNameRow;
}

const columnTypes = { text: VARCHAR, number: DOUBLE, whole: INTEGER } as const;

/** A temporary DuckDB database that sorts, joins and counts, and spills to disk. */
export interface Store {
	run(sql: string): Promise<void>;
	/** All rows of a small result; integers are numbers, not bigints. */
	all<T extends Record<string, Value>>(sql: string): Promise<T[]>;
	/** The number of rows of a table, or of anything that may follow FROM. */
	count(from: string): Promise<number>;
	/** A large result, chunk by chunk. */
	stream(sql: string): AsyncIterable<Chunk>;
	/** A large result without NULLs; each chunk is the bytes of its columns of numbers. */
	bytes(sql: string, widths: readonly number[]): AsyncIterable<readonly Uint8Array[]>;
	/** Adds rows to one of the reader's tables. For large inputs, add many at once or use SQL. */
	append<Name extends keyof Rows>(
		table: Name,
		rows: Iterable<Rows[Name]> | AsyncIterable<Rows[Name]>,
	): Promise<void>;
	/** Adds rows to any other table; values are in the order of its columns. */
	appendTo(
		table: string,
		types: readonly (keyof typeof columnTypes)[],
		rows: Iterable<readonly Value[]> | AsyncIterable<readonly Value[]>,
	): Promise<void>;
	/** The progress of the running query from 0 to 1, if DuckDB knows it. */
	progress(): number | undefined;
	close(): void;
}

/**
 * The absolute path of a file, escaped for DuckDB, which treats paths as patterns (a character in brackets is
 * literal) and does not treat paths that begin with ~ or http:// as local files.
 */
export const literalPath = (path: string): string =>
	resolve(path).replace(/[[*?]/g, (character) => `[${character}]`);

const chunkRows = 2048;

/** Settings that stop DuckDB from downloading or loading extensions. */
export const noExtensions = {
	autoinstall_known_extensions: "false",
	autoload_known_extensions: "false",
	allow_community_extensions: "false",
} as const;

/**
 * Opens a database whose SQL can access only the given files, no network and no extension. DuckDB's configuration is
 * locked, so SQL cannot lift these restrictions.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
	const { folder, memory, threads, files = [] } = options;
	const instance = await DuckDBInstance.create(":memory:", {
		memory_limit: `${Math.floor(memory / 1024)}KiB`,
		temp_directory: join(folder, "spill"),
		...noExtensions,
		...(threads ? { threads: String(threads) } : {}),
	});
	const connection = await instance.connect();
	// A process waits for its threads before it ends, so a running query would delay the exit.
	const interrupt = () => connection.interrupt();
	process.prependOnceListener("exit", interrupt);
	const run = (sql: string) => explained(() => connection.run(sql));
	await run("SET TimeZone = 'UTC'");
	await run("SET enable_progress_bar = true"); // counted, not printed
	await run("SET enable_progress_bar_print = false");
	// DuckDB checks both the pattern in a query and the file that matches it.
	const paths = files.flatMap((file) => [resolve(file), literalPath(file)]);
	await run(`SET allowed_paths = [${paths.map(quoted).join(", ")}]`);
	await run("SET enable_external_access = false"); // except for these files and the folder for spilling
	await run("SET lock_configuration = true");
	// One byte per row instead of a text.
	await run(`CREATE TYPE kind AS ENUM (${recordKinds.map(quoted).join(", ")})`);
	for (const [name, columns] of Object.entries(tables)) {
		const list = columns.map(([column, type]) => `${column} ${column === "kind" ? "kind" : type}`);
		await run(`CREATE TABLE ${name} (${list.join(", ")})`);
	}
	return {
		async run(sql) {
			await run(sql);
		},
		async all<T>(sql: string) {
			const result = await run(sql);
			const objects = await explained(() => result.getRowObjectsJS());
			for (const row of objects)
				for (const [name, value] of Object.entries(row))
					if (typeof value === "bigint") row[name] = Number(value);
			return objects as T[];
		},
		async count(from) {
			const result = await run(`SELECT count(*) FROM ${from}`);
			return Number((await explained(() => result.getRows()))[0]?.[0]);
		},
		async *stream(sql) {
			const result = await explained(() => connection.stream(sql));
			while (true) {
				const chunk = await explained(() => result.fetchChunk());
				if (!chunk || chunk.rowCount === 0) return;
				yield { rows: chunk.rowCount, columns: chunk.getColumns() };
			}
		},
		async *bytes(sql, widths) {
			const result = await explained(() => connection.stream(sql));
			while (true) {
				const chunk = await explained(() => result.fetchChunk());
				if (!chunk || chunk.rowCount === 0) return;
				yield widths.map((width, at) => {
					const vector = duckdb.data_chunk_get_vector(chunk.chunk, at);
					return duckdb.vector_get_data(vector, width * chunk.rowCount);
				});
			}
		},
		append(table, rows) {
			const names = tables[table].map(([name]) => name);
			const types = tables[table].map(([, type]) => type);
			const values = async function* () {
				for await (const row of rows)
					yield names.map((name) => (row as unknown as Record<string, Value>)[name] ?? null);
			};
			return explained(() => append(connection, table, types, values()));
		},
		appendTo(table, types, rows) {
			const own = types.map((type) => columnTypes[type]);
			return explained(() => append(connection, table, own, rows));
		},
		progress() {
			const { percentage } = connection.progress;
			return percentage < 0 ? undefined : percentage / 100;
		},
		close() {
			process.removeListener("exit", interrupt);
			connection.closeSync();
			instance.closeSync();
		},
	};
}

async function append(
	connection: DuckDBConnection,
	table: string,
	types: readonly DuckDBType[],
	rows: Iterable<readonly Value[]> | AsyncIterable<readonly Value[]>,
): Promise<void> {
	const appender = await connection.createAppender(table);
	let columns: Value[][] = types.map(() => []);
	let count = 0;
	const flush = () => {
		if (count === 0) return;
		const chunk = DuckDBDataChunk.create(types, count);
		chunk.setColumns(columns);
		appender.appendDataChunk(chunk);
		columns = types.map(() => []);
		count = 0;
	};
	try {
		for await (const row of rows) {
			for (const [at, column] of columns.entries()) column.push(row[at] ?? null);
			if (++count === chunkRows) flush();
		}
		flush();
		appender.flushSync();
	} finally {
		appender.closeSync();
	}
}

/** Explains errors of disk space and memory; other errors are left to the caller, who knows the query. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (error) {
		const message = error instanceof Error ? error.message : "";
		if (/no space left on device|disk quota|failed to offload/i.test(message))
			throw new InputError(
				"the disk is full; free some space, or choose a folder on another disk with `out`",
				{ cause: error },
			);
		if (message.startsWith("Out of Memory Error"))
			throw new InputError(
				"the records do not fit in the memory that was allowed; pass a larger `memory`, as in `memory` 8GB",
				{ cause: error },
			);
		throw error;
	}
}
