import { join, resolve } from "node:path";
import { allGathered, type Communicator } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { systemRefusal } from "../../base/system-errors.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";

/** The tables that are merged, which ranks pass to rank 0 as files. */
const mergedTables = ["cohort", "final", "marked", "shortened"] as const;

const shardFile = (folder: string, table: string, rank: number) =>
	join(folder, `${table}-${rank}.parquet`);

/** The files that ranks pass to each other in a folder. */
export const shardFiles = (folder: string, { size }: Communicator): string[] =>
	size === 1
		? []
		: mergedTables.flatMap((table) =>
				Array.from({ length: size }, (_, rank) => shardFile(folder, table, rank)),
			);

/**
 * How the processes of a job share the patients. Each has those of a range of ids, so that the tables of all ranks,
 * one after the other, are in the order of one process. All ranks see the folder.
 */
export function shardsOf(communicator: Communicator, patients: number, folder: string) {
	const { rank, size } = communicator;
	const firstOf = (number: number) => Math.floor((patients * number) / size);
	/** Does work of this rank. If it fails on one rank, it fails on all, and rank 0 says why. */
	const each = <T>(work: () => Promise<T>) => doOrFailOnAllRanks(communicator, work);
	return {
		communicator,
		each,
		/** SQL that holds for patients of this rank; `id` is a column with numbers of `patient`. */
		ownSql: (id: string): string =>
			size === 1 ? "true" : `${id} >= ${firstOf(rank)} AND ${id} < ${firstOf(rank + 1)}`,
		/** Rows of all ranks, in order of rank. */
		rows: async <Row extends object>(rankRows: readonly Row[]): Promise<readonly Row[]> =>
			allGathered(communicator, rankRows).flat(),
		/** Sums over all ranks. */
		sums(terms: readonly number[]): number[] {
			const values = Float64Array.from(terms);
			communicator.sum(values);
			return [...values];
		},
		/** Gives rank 0 the rows of all ranks, in order of rank; the others lose theirs. */
		async merge(store: Store, table: (typeof mergedTables)[number]): Promise<void> {
			if (size === 1) return;
			const files = Array.from({ length: size }, (_, i) => resolve(shardFile(folder, table, i)));
			await each(() => store.run(`COPY ${table} TO ${quoted(files[rank])} (FORMAT parquet)`));
			await store.run(`DROP TABLE ${table}`);
			if (rank > 0) return;
			const queries = files.map((file) => `FROM read_parquet(${quoted(file)})`);
			await fillInOrder(store, table, queries);
		},
	};
}

export type Shards = ReturnType<typeof shardsOf>;

/** Does the work of each rank. If it fails on one rank, it fails on all: rank 0 must not wait for one that has ended. */
export async function doOrFailOnAllRanks<T>(
	communicator: Communicator,
	work: () => Promise<T>,
): Promise<T> {
	if (communicator.size === 1) return work();
	const { rank, size } = communicator;
	let value: T | undefined;
	let failure: { readonly error: unknown } | undefined;
	try {
		value = await work();
	} catch (error) {
		failure = { error };
	}
	const message = failure && { rank, ...describeFailure(failure.error) };
	const first = allGathered(communicator, message ?? null).find((reported) => reported !== null);
	if (failure) throw failure.error;
	if (!first) return value as T;
	const text = `rank ${first.rank} of ${size}: ${first.text}`;
	throw first.isInput ? new InputError(text) : new Error(text);
}

function describeFailure(error: unknown): { readonly isInput: boolean; readonly text: string } {
	const refusal = systemRefusal(error);
	return {
		isInput: error instanceof InputError || refusal !== undefined,
		text: refusal ?? (error instanceof Error ? error.message : String(error)),
	};
}

/**
 * Creates a table of the rows of queries, one after the other. How rows are divided into groups, in the table and in
 * Parquet files made from it, depends on the rows alone, not on the number of queries: DuckDB appends in one thread
 * what comes from a positional join, and fills every group as long as the transaction lasts.
 */
export async function fillInOrder(store: Store, table: string, queries: readonly string[]) {
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
