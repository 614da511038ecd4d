import { join, resolve } from "node:path";
import { allGathered, type Communicator } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { systemRefusal } from "../../base/system-errors.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { fillInOrder } from "./fill-in-order.js";

/**
 * How the processes of a job share the patients. Each has those of a range of ids, so that the tables of all ranks,
 * one after the other, are in the order of one process.
 */
export interface Shards {
	readonly communicator: Communicator;
	/** SQL that holds for patients of this rank; `id` is a column with numbers of `patient`. */
	ownSql(id: string): string;
	/** Does work of this rank. If it fails on one rank, it fails on all, and rank 0 says why. */
	each<T>(work: () => Promise<T>): Promise<T>;
	/** Rows of all ranks, in order of rank. */
	rows<Row extends object>(own: readonly Row[]): Promise<readonly Row[]>;
	/** Sums over all ranks. */
	sums(own: readonly number[]): number[];
	/** Gives rank 0 the rows of all ranks, in order of rank; the others lose theirs. */
	merge(store: Store, table: (typeof mergedTables)[number]): Promise<void>;
}

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

/** `patients` is how many there are in all, `folder` is seen by all ranks. */
export function shardsOf(communicator: Communicator, patients: number, folder: string): Shards {
	const { rank, size } = communicator;
	const firstOf = (number: number) => Math.floor((patients * number) / size);
	const each = <T>(work: () => Promise<T>) => doOrFailOnAllRanks(communicator, work);
	return {
		communicator,
		each,
		ownSql: (id) =>
			size === 1 ? "true" : `${id} >= ${firstOf(rank)} AND ${id} < ${firstOf(rank + 1)}`,
		rows: async (own) => allGathered(communicator, own).flat(),
		sums: (own) => {
			const values = Float64Array.from(own);
			communicator.sum(values);
			return [...values];
		},
		merge: async (store, table) => {
			if (size === 1) return;
			await each(() =>
				store.run(
					`COPY ${table} TO ${quoted(resolve(shardFile(folder, table, rank)))} (FORMAT parquet)`,
				),
			);
			await store.run(`DROP TABLE ${table}`);
			if (rank > 0) return;
			const files = Array.from({ length: size }, (_, i) => resolve(shardFile(folder, table, i)));
			await fillInOrder(
				store,
				table,
				files.map((file) => `FROM read_parquet(${quoted(file)})`),
			);
		},
	};
}

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
	const first = allGathered(communicator, message ?? null).find((own) => own !== null);
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
