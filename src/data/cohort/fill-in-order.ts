import type { Store } from "../records/store.js";

/**
 * Creates a table of the rows of queries, one after the other. How rows are divided into groups, in the table and in
 * Parquet files made from it, depends on the rows alone, not on the number of queries: DuckDB appends in one thread
 * what comes from a positional join, and fills every group as long as the transaction lasts.
 */
export async function fillInOrder(
	store: Store,
	table: string,
	queries: readonly string[],
): Promise<void> {
	const [first] = queries as [string];
	if (queries.length === 1) return store.run(`CREATE TABLE ${table} AS ${first}`);
	await store.run(`CREATE TABLE ${table} AS FROM (${first}) LIMIT 0`);
	await store.run("BEGIN TRANSACTION");
	for (const query of queries)
		await store.run(`
			INSERT INTO ${table}
			SELECT own.* FROM (${query}) AS own POSITIONAL JOIN (FROM range(0)) AS nothing`);
	await store.run("COMMIT");
}
