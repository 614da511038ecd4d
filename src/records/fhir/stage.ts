import type { Store, Value } from "../store.js";

/**
 * Tables that resources wait in until all files have been read; a limit on memory is DuckDB's to keep.
 * `version` counts the resources.
 */
const tables = {
	fhir_record: {
		version: "number",
		/** Counts the records; the codings of one have the same. */
		row: "number",
		rank: "number",
		patient: "text",
		/** What the patient may be known under instead of its id. */
		alias: "text",
		day: "number",
		slack: "number",
		/** Days since birth, which go before `day` where the birth is known. */
		age: "number",
		kind: "text",
		/** The Medication that has the code, or else the code itself. */
		medication: "text",
		code: "text",
		system: "text",
		name: "text",
	},
	fhir_person: {
		version: "number",
		patient: "text",
		birth: "number",
		sex: "text",
		death: "number",
		place: "text",
	},
	/** Every resource that has a name: of those of one name, the last holds. */
	fhir_version: { key: "text", version: "number" },
	/** A patient's other names. */
	fhir_alias: { key: "text", patient: "text" },
	/** Whose time records without one take, the lowest rank first. */
	fhir_wait: { row: "number", rank: "number", key: "text" },
	fhir_time: { version: "number", key: "text", day: "number", slack: "number" },
	/** The codings of Medications. */
	fhir_drug: {
		key: "text",
		version: "number",
		rank: "number",
		code: "text",
		system: "text",
		name: "text",
		refused: "text",
	},
} as const satisfies Record<string, Record<string, "text" | "number">>;

type Tables = typeof tables;
type Row<Name extends keyof Tables> = {
	readonly [Column in keyof Tables[Name]]: Value;
};

const mostRows = 8192;
const mostText = 8 * 1024 * 1024; // characters

/** Rows on their way to the store, many at a time. */
export class Stage {
	readonly #store: Store;
	readonly #held = new Map<keyof Tables, Value[][]>();
	#rows = 0;
	#text = 0;

	private constructor(store: Store) {
		this.#store = store;
	}

	static async open(store: Store): Promise<Stage> {
		for (const [name, columns] of Object.entries(tables)) {
			const list = Object.entries(columns).map(
				([column, type]) => `${column} ${type === "text" ? "VARCHAR" : "DOUBLE"}`,
			);
			await store.run(`CREATE OR REPLACE TABLE ${name} (${list.join(", ")})`);
		}
		return new Stage(store);
	}

	add<Name extends keyof Tables>(table: Name, row: Row<Name>): void {
		const values = Object.keys(tables[table]).map(
			(column) => (row as Record<string, Value>)[column] ?? null,
		);
		const rows = this.#held.get(table);
		if (rows) rows.push(values);
		else this.#held.set(table, [values]);
		this.#rows++;
		for (const value of values) if (typeof value === "string") this.#text += value.length;
	}

	get full(): boolean {
		return this.#rows >= mostRows || this.#text >= mostText;
	}

	async flush(): Promise<void> {
		for (const [table, rows] of this.#held)
			await this.#store.appendTo(table, Object.values(tables[table]), rows);
		this.#held.clear();
		this.#rows = 0;
		this.#text = 0;
	}

	async close(): Promise<void> {
		for (const name of [...Object.keys(tables), "fhir_stale", "fhir_found"])
			await this.#store.run(`DROP TABLE IF EXISTS ${name}`);
	}
}
