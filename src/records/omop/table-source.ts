import type { Store } from "../store.js";
import type { CdmTable } from "./tables.js";

/** What to take from a table of the CDM, and where to put it. */
export interface StagingRequest {
	readonly table: CdmTable;
	/** The temporary table to make. */
	readonly into: string;
	/** SQL that reads `from`, whose columns have our names and are VARCHAR, NULL where absent. */
	select(from: string): string;
	/** For a database: which rows it need send at all. `column` gives the SQL of a CDM column. */
	readonly only?: ((column: (name: string) => string) => string) | undefined;
}

/** Where the tables of a CDM come from: a folder of files, or a database. */
export interface TableSource {
	has(table: CdmTable): boolean;
	stage(store: Store, request: StagingRequest): Promise<void>;
	/** Where a row (from 1) of a table stands, for messages. */
	placeOf(table: CdmTable, row: number, patient: string | null): Promise<string>;
	/** SQL for the same, cheap, for every row: of `row`, a number from 1. */
	placeSql(table: CdmTable, row: string): string;
	/** A table in words: the file, or the schema and table. */
	nameOf(table: CdmTable): string;
	/** What was presumed on the way. */
	readonly notes: readonly string[];
}
