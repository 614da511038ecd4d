import { InputError } from "../../../base/errors.js";
import type { BadRows } from "../bad-rows.js";
import { recordKinds, type TimeIs } from "../rows.js";
import { type Column, named, type Table } from "../sql.js";
import type { Store } from "../store.js";
import { systemRemedy } from "../systems.js";
import {
	copyRows,
	type Fault,
	faultSql,
	reportFaults,
	rowOfFile,
	withNumberedRows,
} from "../table.js";
import { joinKey } from "./columns.js";
import { badTime, isBadTime, isMissingSql, isUntidy, rawText } from "./values.js";

/** SQL for the columns of `record`; `row` is a whole number by which the records of a file are ordered. */
type RecordSql = Readonly<
	Record<"row" | "patient" | "time" | "code" | "system" | "kind" | "value" | "unit", string>
>;

/** How rows of a table become records. */
export interface RecordPlan {
	readonly table: Table;
	/** The columns of the table that are read. */
	readonly reads: readonly Column[];
	/** SQL for rows with what `record` needs, given numbered rows: computed columns, a join, several rows of one. */
	readonly rows: (rows: string) => string;
	/** SQL condition for rows without a time that are left out; by default they are refused. */
	readonly untimed?: string;
	readonly record: RecordSql;
	/**
	 * The same without checks for blanks and words for missing values, and with a column read as dates: faster, and correct
	 * if nothing is unusual.
	 */
	readonly quick:
		| (Pick<RecordSql, "patient" | "time" | "code" | "system"> & {
				readonly dates: string | undefined;
		  })
		| undefined;
	/** The source columns, for messages. */
	readonly from: {
		readonly patient: Column;
		readonly time: Column;
		readonly system: Column | undefined;
		readonly kind: Column | undefined;
		/** The key of a join in the main table, and the file of the second table. */
		readonly key: { readonly column: Column; readonly file: string } | undefined;
		readonly unit: TimeIs;
		readonly format: string | undefined;
	};
}

/** What became of the rows of a table. */
export type Inserted = Awaited<ReturnType<typeof insertRecords>>;

const noCode = `(code IS NULL OR ${isMissingSql("code")})`;
const noPatient = `(patient IS NULL OR ${isMissingSql("patient")})`;

const selected = ({ row, patient, time, code, system, kind, value, unit }: RecordSql) =>
	`SELECT ${row} AS row, ${patient} AS patient, ${time} AS time, ${code} AS code, ${system} AS system, ${kind} AS kind, ${value} AS value, ${unit} AS unit`;

/** Adds the rows of a table to `record`; those that cannot be read are left out and added to `bad`, or refused. */
export async function insertRecords(store: Store, plan: RecordPlan, bad?: BadRows) {
	const rows = await adoptCopy(store, plan);
	if (rows !== undefined) return { rows, empty: 0, untimed: 0, noNumbers: 0 };
	return withNumberedRows(store, plan.table, plan.reads, (rows) =>
		insertChecked(store, plan, rows, bad),
	);
}

async function insertChecked(
	store: Store,
	plan: RecordPlan,
	numberedRows: string,
	bad: BadRows | undefined,
) {
	const from = plan.rows(numberedRows);
	const faults = faultsOf(plan);
	const faulty = `(NOT ${noCode} AND ${faultSql(faults)} IS NOT NULL)`;
	const inserted = await store.addRecords(`${selected(plan.record)} FROM ${from}`);
	const untimed = plan.untimed ? await store.count(`${numberedRows} WHERE ${plan.untimed}`) : 0;
	const [counts] = await store.all<{ rows: number; empty: number; faults: number; nan: number }>(
		`SELECT count(*) AS rows, count(*) FILTER (${noCode}) AS empty, count(*) FILTER (${faulty}) AS faults, count(*) FILTER (isnan(value) AND NOT ${noCode}) AS nan FROM stored_record WHERE ${inserted}`,
	);
	const { rows = 0, empty = 0, nan = 0 } = counts ?? {};
	if (counts?.faults) {
		const texts = rowsWithTexts(plan, from, faulty);
		await reportFaults(store, texts, faults, plan.table.places, bad);
		await store.run(`DELETE FROM stored_record WHERE ${inserted} AND ${faulty}`);
	}
	if (empty > 0) await store.run(`DELETE FROM stored_record WHERE ${inserted} AND ${noCode}`);
	if (nan > 0) await store.run(`UPDATE stored_record SET value = NULL WHERE isnan(value)`);
	return {
		rows: rows + untimed,
		/** Rows without a code, which were left out. */
		empty,
		/** Rows without a time, which were left out; 0 where every record needs one. */
		untimed,
		/** Values that are not numbers, which were left empty. */
		noNumbers: nan,
	};
}

/** Makes a copy of the file part of `record` and returns the number of its rows, if nothing is unusual. */
async function adoptCopy(store: Store, plan: RecordPlan): Promise<number | undefined> {
	const { table, quick } = plan;
	if (!quick) return undefined;
	// In hexadecimal, because names of tables ignore case and those of files do not.
	const copy = named(`copy of ${Buffer.from(table.file).toString("hex")}`);
	try {
		const source =
			(quick.dates === undefined ? undefined : table.dated?.(quick.dates)) ?? table.sql;
		const rows = await copyRows(store, copy, plan.reads, source);
		const records = `${selected({ ...plan.record, ...quick })} FROM ${rows}`;
		// DuckDB's reader also turns words such as infinity into 1900-01-01.
		const odd = `patient IS NULL OR code IS NULL OR ${isBadTime("time", plan.from.unit)} OR (time = -25567 AND ${plan.from.unit === "date"}) OR system IS NULL OR kind IS NULL OR isnan(value)`;
		const [look] = await store.all<{ rows: number; odd: number }>(
			`SELECT count(*) AS rows, count(*) FILTER (${odd}) AS odd FROM (${records})`,
		);
		if (look?.odd === 0 && (await isTidy(store, records))) {
			await store.adoptRecords(copy, records);
			return look.rows;
		}
	} catch (error) {
		if (error instanceof InputError) throw error; // out of memory or disk, not an error of the file
	}
	await store.run(`DROP TABLE IF EXISTS ${copy}`);
	return undefined;
}

/** Whether no patient and no code of records is untrimmed or a word for a missing value. Checks each distinct text once. */
async function isTidy(store: Store, records: string): Promise<boolean> {
	for (const text of ["patient", "code"]) {
		// A FILTER, because a WHERE would be evaluated for every row before grouping.
		const [look] = await store.all<{ untidy: number }>(
			`SELECT count(*) FILTER (${isUntidy(text)}) AS untidy FROM (SELECT ${text}, count(*) AS n FROM (${records}) GROUP BY ${text})`,
		);
		if (look?.untidy) return false;
	}
	return true;
}

/** SQL for the first record per row of the file under a condition, with the number of that row, and texts for messages. */
function rowsWithTexts(plan: RecordPlan, from: string, condition: string): string {
	const { time, system, key } = plan.from;
	const text = (column: Column | undefined) => (column ? rawText(column) : "NULL");
	return `(SELECT * REPLACE (file_row AS row) FROM (SELECT DISTINCT ON (file_row) * FROM (
		${selected(plan.record)}, ${rowOfFile} AS file_row, ${text(time)} AS time_text, ${text(system)} AS system_text, ${text(key?.column)} AS key_text, ${key ? joinKey : "NULL"} AS key FROM ${from})
		WHERE ${condition} ORDER BY file_row, row))`;
}

const short = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);

/** What may be wrong with a record that has a code. */
function faultsOf({ table, from }: RecordPlan): Fault[] {
	const { patient, time, system, kind, key, unit, format } = from;
	type Texts = Readonly<Record<"time_text" | "system_text" | "key_text" | "key", string | null>>;
	type Row = Texts & { readonly time: number | null };
	const timePlace = time.file === table.file ? "" : `${time.file}: `;
	const sayKey = (text: string | null) =>
		text === null
			? `${key?.column.name} is empty, so that no row of ${key?.file} belongs to it; fill it in or remove the row`
			: `${key?.column.name} ${short(text)} is not in ${key?.file}; add it there or remove the row`;
	const kindFault = `${kind?.name ?? "kind"} is not one of ${recordKinds.join(", ")}`;
	const sayings: readonly (readonly [when: string, say: (row: Row) => string])[] = [
		[
			noPatient,
			() => `${patient.name} is empty; every record needs a patient: fill it in or remove the row`,
		],
		[
			isBadTime("time", unit),
			(row) => timePlace + badTime(row.time_text, row.time, time, unit, format),
		],
		[
			"system IS NULL",
			({ system_text: text }) =>
				!system
					? kindFault
					: text?.trim()
						? `${system.name} is ${short(text)}, which is no code system; ${systemRemedy}`
						: `${system.name} is empty; ${systemRemedy}`,
		],
		["kind IS NULL", () => kindFault],
	];
	return sayings.map(([when, say]) => ({
		when,
		say: (row) => {
			const texts = row as unknown as Row;
			return `: ${key && texts.key === null ? sayKey(texts.key_text) : say(texts)}`;
		},
	}));
}
