import type { Store } from "../store.js";
import type { CdmTable } from "./tables.js";

/** A table of the CDM to copy into the store. */
export interface StagingRequest {
	readonly table: CdmTable;
	/** The temporary table to create. */
	readonly into: string;
	/** SQL that reads `from`, whose columns have our names and are VARCHAR; absent columns are NULL. */
	select(from: string): string;
	/** For a database: a condition on the rows to send. `column` gives the SQL of a CDM column. */
	readonly only?: ((column: (name: string) => string) => string) | undefined;
}

/** A source of CDM tables: a folder of files, or a database. */
export interface TableSource {
	has(table: CdmTable): boolean;
	stage(store: Store, request: StagingRequest): Promise<void>;
	/** The location of a row (from 1) of a table, for messages. */
	placeOf(table: CdmTable, row: number, patient: string | null): Promise<string>;
	/** Cheap SQL for the location of every row; `row` counts from 1. */
	placeSql(table: CdmTable, row: string): string;
	/** The name of a table for messages: the file, or the schema and table. */
	nameOf(table: CdmTable): string;
	/** Assumptions made while reading. */
	readonly notes: readonly string[];
}
