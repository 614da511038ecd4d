import { DuckDBInstance } from "@duckdb/node-api";
import { quoted } from "../sql.js";

/** Writes what SQL gives, with its types, as Parquet. */
export async function writeParquet(file: string, sql: string): Promise<string> {
	const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
	const connection = await instance.connect();
	try {
		await connection.run(`COPY (${sql}) TO ${quoted(file)} (FORMAT parquet)`);
	} finally {
		connection.closeSync();
		instance.closeSync();
	}
	return file;
}
