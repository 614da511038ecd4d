import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DuckDBConnection } from "@duckdb/node-api";
import { InputError } from "../../base/errors.js";
import { temporarily } from "../../base/files/index.js";
import type { BadRows } from "./bad-rows.js";
import {
	type CodeNameRow,
	type Loaded,
	type ObservationRow,
	type PersonRow,
	type RecordRow,
	recordKinds,
} from "./rows.js";
import { quoted } from "./sql.js";

interface StoreOptions {
	/** The folder for data that does not fit in memory. It must exist; the caller removes it. */
	readonly folder: string;
	/** Memory limit of DuckDB in bytes. */
	readonly memory: number;
	readonly threads?: number | undefined;
	/**
	 * Whether tables are kept in a file in the folder. They are compressed there: slower than memory that suffices, but
	 * much smaller than tables of which memory is spilled. False by default.
	 */
	readonly onDisk?: boolean;
	/** The files that SQL may read or write; access to any other file fails. */
	readonly files?: readonly string[] | undefined;
}

export type Value = string | number | boolean | null;

/**
 * The tables that a reader fills. `record` is a view of the rows of `stored_record` and of adopted tables; its column
 * `row` has the order of the records in their source.
 */
const readerTables = {
	stored_record:
		"row BIGINT, patient VARCHAR, time DOUBLE, code VARCHAR, system VARCHAR, kind kind, value DOUBLE, unit VARCHAR",
	person: "patient VARCHAR, birth DOUBLE, sex VARCHAR, death DOUBLE, split VARCHAR, place VARCHAR",
	code_name: "system VARCHAR, code VARCHAR, name VARCHAR, category VARCHAR, kind kind",
	observation: "patient VARCHAR, first DOUBLE, last DOUBLE",
};

interface ReaderRows {
	readonly record: RecordRow;
	readonly person: PersonRow;
	readonly code_name: CodeNameRow;
	readonly observation: ObservationRow;
}

type Row<Table> = Table extends keyof ReaderRows
	? ReaderRows[Table]
	: Readonly<Record<string, Value>>;

/** A temporary DuckDB database that sorts, joins and counts, and spills to disk. */
export type Store = Awaited<ReturnType<typeof openStore>>;

/** An open source of records; each format has a function that returns one. */
export interface RecordSource {
	readonly format: string;
	readonly path: string;
	/** The files that the store reads while loading; none by default. */
	readonly files?: readonly string[];
	/**
	 * Fills the tables `record`, `person`, `code_name` and, if it knows it, `observation`, once. Rows that cannot be read
	 * are left out and added to `bad`; without it, the first is refused.
	 */
	load(store: Store, bad?: BadRows): Promise<Loaded>;
}

/**
 * The absolute path of a file, escaped for DuckDB, which treats paths as patterns (a character in brackets is
 * literal) and does not treat paths that begin with ~ or http:// as local files.
 */
export const literalPath = (path: string): string =>
	resolve(path).replace(/[[*?]/g, (character) => `[${character}]`);

/** SQL for a Parquet file of ours, with its rows numbered from 0 in `file_row_number`. */
export const parquetRows = (file: string): string =>
	`read_parquet(${quoted(literalPath(file))}, file_row_number = true)`;

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
export async function openStore({
	folder,
	memory,
	threads,
	onDisk = false,
	files = [],
}: StoreOptions) {
	// Loaded on first use: it takes a third of a second, and most commands need no database.
	const [{ DuckDBInstance }, { default: bindings }] = await Promise.all([
		import("@duckdb/node-api"),
		import("@duckdb/node-bindings"),
	]);
	const place = onDisk ? join(folder, "store.duckdb") : ":memory:";
	const instance = await DuckDBInstance.create(place, {
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
	const create = (table: string, columns: string) =>
		run(`CREATE OR REPLACE TABLE ${table} (${columns})`);
	for (const [table, columns] of Object.entries(readerTables)) await create(table, columns);
	const chunks = async function* (sql: string) {
		const result = await explained(() => connection.stream(sql));
		while (true) {
			const chunk = await explained(() => result.fetchChunk());
			if (!chunk || chunk.rowCount === 0) return;
			yield chunk;
		}
	};
	const adopted = new Map<string, string>();
	const viewRecords = () => {
		const parts = ["FROM stored_record", ...adopted.values()];
		return run(`CREATE OR REPLACE VIEW record AS ${parts.join(" UNION ALL BY NAME ")}`);
	};
	await viewRecords();
	let lastRow = 0;
	async function* numbered(rows: Rows) {
		for await (const row of rows) yield Object.assign({ row: ++lastRow }, row);
	}
	const number = async (select: string) => {
		const result = await run(`SELECT ${select}`);
		return Number((await explained(() => result.getRows()))[0]?.[0]);
	};
	return {
		async run(sql: string): Promise<void> {
			await run(sql);
		},
		/**
		 * Adds the rows of a query to `record`, after those that it has. The query has the columns of `record`; `row` is the
		 * number of the record in its file, at least 1. Returns the SQL condition for the new rows of `stored_record`.
		 */
		async addRecords(query: string): Promise<string> {
			const before = lastRow;
			await run(
				`INSERT INTO stored_record BY NAME SELECT * REPLACE (${before} + row AS row) FROM (${query})`,
			);
			lastRow = await number(
				`coalesce(max(row), ${before}) FROM stored_record WHERE row > ${before}`,
			);
			return `row > ${before} AND row <= ${lastRow}`;
		},
		/**
		 * The same, but the rows are not stored again: the query is cheap and reads `table` alone, which now belongs to
		 * `record`.
		 */
		async adoptRecords(table: string, query: string): Promise<void> {
			adopted.set(
				table,
				`SELECT * REPLACE (${lastRow} + row AS row, kind::kind AS kind, value::DOUBLE AS value) FROM (${query})`,
			);
			lastRow = await number(`${lastRow} + coalesce(max(row), 0) FROM (${query})`);
			await viewRecords();
		},
		/** Drops `record` and what it reads. */
		async dropRecords(): Promise<void> {
			await run("DROP VIEW record");
			for (const table of ["stored_record", ...adopted.keys()]) await run(`DROP TABLE ${table}`);
		},
		/** All rows of a small result; integers are numbers, not bigints. */
		async all<T extends Record<string, Value>>(sql: string): Promise<T[]> {
			const result = await run(sql);
			const objects = await explained(() => result.getRowObjectsJS());
			for (const row of objects)
				for (const [name, value] of Object.entries(row))
					if (typeof value === "bigint") row[name] = Number(value);
			return objects as T[];
		},
		/** The number of rows of a table, or of anything that may follow FROM. */
		count: (from: string): Promise<number> => number(`count(*) FROM ${from}`),
		/** A large result, chunk by chunk: its columns in the order of the query. */
		async *stream(sql: string) {
			for await (const chunk of chunks(sql))
				yield { rows: chunk.rowCount, columns: chunk.getColumns() };
		},
		/** A large result without NULLs; each chunk is the bytes of its columns of numbers. */
		async *bytes(sql: string, widths: readonly number[]) {
			for await (const chunk of chunks(sql))
				yield widths.map((width, at) => {
					const vector = bindings.data_chunk_get_vector(chunk.chunk, at);
					return bindings.vector_get_data(vector, width * chunk.rowCount);
				});
		},
		/** Creates an empty table, given its columns in SQL. */
		async create(table: string, columns: string): Promise<void> {
			await create(table, columns);
		},
		/**
		 * Adds rows to a table of the reader or of `create`; records are numbered in this order. For large inputs, add many
		 * at once or use SQL.
		 */
		append<Table extends string>(
			table: Table,
			rows: Iterable<Row<Table>> | AsyncIterable<Row<Table>>,
		): Promise<void> {
			return explained(() =>
				table === "record"
					? append(connection, "stored_record", numbered(rows))
					: append(connection, table, rows),
			);
		},
		/** The progress of the running query from 0 to 1, if DuckDB knows it. */
		progress(): number | undefined {
			const { percentage } = connection.progress;
			return percentage < 0 ? undefined : percentage / 100;
		},
		close(): void {
			process.removeListener("exit", interrupt);
			connection.closeSync();
			instance.closeSync();
		},
	};
}

/** Works with a store in a temporary folder, which is removed afterwards. */
export async function withStore<T>(
	options: Omit<StoreOptions, "folder">,
	work: (store: Store) => Promise<T>,
): Promise<T> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-store-"));
	return temporarily(folder, async () => {
		const store = await openStore({ ...options, folder });
		try {
			return await work(store);
		} finally {
			store.close();
		}
	});
}

type Rows = Iterable<object> | AsyncIterable<object>;

async function append(connection: DuckDBConnection, table: string, rows: Rows) {
	const duckdb = await import("@duckdb/node-api");
	const empty = await connection.run(`FROM ${table} LIMIT 0`);
	const names = empty.columnNames();
	// The appender turns texts into values of an enumeration.
	const types = empty
		.columnTypes()
		.map((type) => (type.typeId === duckdb.DuckDBTypeId.ENUM ? duckdb.VARCHAR : type));
	const isWide = types.map(({ typeId }) => typeId === duckdb.DuckDBTypeId.BIGINT);
	const appender = await connection.createAppender(table);
	let columns: (Value | bigint)[][] = types.map(() => []);
	let count = 0;
	const flush = () => {
		if (count === 0) return;
		const chunk = duckdb.DuckDBDataChunk.create(types, count);
		chunk.setColumns(columns);
		appender.appendDataChunk(chunk);
		columns = types.map(() => []);
		count = 0;
	};
	try {
		for await (const row of rows) {
			for (const [at, column] of columns.entries()) {
				const value = (row as Record<string, Value>)[names[at] as string] ?? null;
				column.push(isWide[at] ? BigInt(value as number) : value);
			}
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

/** Bytes of a table of records in memory per byte of the file that it was read from: some are packed. */
const bytesPerByte = (file: string): number => {
	if (/\.parquet$/i.test(file)) return 24;
	return /\.gz$/i.test(file) ? 20 : 3;
};

/** About how many bytes the records of files take in memory. */
export async function neededMemory(files: readonly string[]): Promise<number> {
	let bytes = 0;
	for (const file of files) {
		const stats = await stat(file).catch(() => undefined);
		bytes += bytesPerByte(file) * (stats?.size ?? 0);
	}
	return bytes;
}
