import { DuckDBInstance } from "@duckdb/node-api";
import { quoted } from "../sql.js";

/** Of all tests of a worker: opening one takes longer than writing a small table. */
let connection: ReturnType<typeof connected> | undefined;

const connected = async () => (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();

/** Writes what SQL gives, with its types, as Parquet. */
export async function writeParquet(file: string, sql: string): Promise<string> {
	connection ??= connected();
	await (await connection).run(`COPY (${sql}) TO ${quoted(file)} (FORMAT parquet)`);
	return file;
}
