import type { Columns, Store, Value } from "../store.js";

/**
 * The rows of resources before references between them are resolved. `version` counts the resources read.
 */
const stagedTables = {
	fhir_record: {
		version: "number",
		/** Counts the records; the codings of one record share it. */
		row: "number",
		rank: "number",
		patient: "text",
		/** A key under which the Patient may have another id. */
		alias: "text",
		day: "number",
		slack: "number",
		/** Days since birth, used instead of `day` if the birth is known. */
		age: "number",
		kind: "text",
		/** The Medication with the code, if the record has none. */
		medication: "text",
		code: "text",
		system: "text",
		name: "text",
		value: "number",
		unit: "text",
	},
	fhir_person: {
		version: "number",
		patient: "text",
		birth: "number",
		sex: "text",
		death: "number",
		place: "text",
	},
	/** One row per resource with a key; of several with the same key, the last counts. */
	fhir_version: { key: "text", version: "number" },
	/** Other keys of patients. */
	fhir_alias: { key: "text", patient: "text" },
	/** For records without a time: the keys that give it, the lowest rank first. */
	fhir_time_from: { row: "number", rank: "number", key: "text" },
	/** When encounters started, by their own keys and those of their diagnoses. */
	fhir_encounter_time: { version: "number", key: "text", day: "number", slack: "number" },
	/** The codings of Medications. */
	fhir_medication: {
		key: "text",
		version: "number",
		rank: "number",
		code: "text",
		system: "text",
		name: "text",
		/** Why a record of this Medication is refused. */
		refused: "text",
	},
} as const satisfies Record<string, Columns>;

type Tables = typeof stagedTables;
export type StagedTable = keyof Tables;

/** A row of a staged table. */
export type StagedRow<Name extends StagedTable> = {
	readonly [Column in keyof Tables[Name]]:
		| (Tables[Name][Column] extends "text" ? string : number)
		| (Column extends "version" | "row" | "rank" | "key" | "patient" | "slack" ? never : null);
};

/** Receives staged rows. */
export interface StagedRows {
	add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void;
}

/** Staged rows in memory. */
export class MemoryRows implements StagedRows {
	readonly #tables = new Map<StagedTable, unknown[]>();

	add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void {
		const rows = this.#tables.get(table);
		if (rows) rows.push(row);
		else this.#tables.set(table, [row]);
	}

	of<Name extends StagedTable>(table: Name): readonly StagedRow<Name>[] {
		return (this.#tables.get(table) ?? []) as StagedRow<Name>[];
	}
}

/** Keeps the rows of a resource back until all of it was read. */
export class PendingRows implements StagedRows {
	readonly #rows: StagedRows;
	#pending: (() => void)[] = [];

	constructor(rows: StagedRows) {
		this.#rows = rows;
	}

	add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void {
		this.#pending.push(() => this.#rows.add(table, row));
	}

	keep(): void {
		for (const add of this.#pending) add();
		this.clear();
	}

	clear(): void {
		this.#pending = [];
	}
}

const mostRows = 8192;
const mostText = 8 * 1024 * 1024; // characters

/** Writes staged rows to tables of the store in batches, within its memory limit. */
export class StoreRows implements StagedRows {
	readonly #store: Store;
	readonly #unwritten = new Map<StagedTable, Readonly<Record<string, Value>>[]>();
	#rows = 0;
	#text = 0;

	private constructor(store: Store) {
		this.#store = store;
	}

	static async create(store: Store): Promise<StoreRows> {
		for (const [name, columns] of Object.entries(stagedTables)) await store.create(name, columns);
		return new StoreRows(store);
	}

	add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void {
		const rows = this.#unwritten.get(table);
		if (rows) rows.push(row);
		else this.#unwritten.set(table, [row]);
		this.#rows++;
		for (const value of Object.values(row))
			if (typeof value === "string") this.#text += value.length;
	}

	get isFull(): boolean {
		return this.#rows >= mostRows || this.#text >= mostText;
	}

	async write(): Promise<void> {
		for (const [table, rows] of this.#unwritten) await this.#store.append<string>(table, rows);
		this.#unwritten.clear();
		this.#rows = 0;
		this.#text = 0;
	}

	async drop(): Promise<void> {
		for (const name of Object.keys(stagedTables))
			await this.#store.run(`DROP TABLE IF EXISTS ${name}`);
	}
}
