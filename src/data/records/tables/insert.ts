import { InputError } from "../../../base/errors.js";
import { type BadRows, reportBad } from "../bad-rows.js";
import { recordKinds, type TimeIs } from "../rows.js";
import { named } from "../sql.js";
import type { Store } from "../store.js";
import { copyRows, type Found, rowOfFile, type Table, withNumberedRows } from "../table.js";
import { systemRemedy } from "./codes.js";
import { joinKey } from "./columns.js";
import { badTime, isBadTime, isMissingSql, isUntidy, rawText } from "./values.js";

interface Texts {
	readonly patient: string;
	readonly code: string;
	readonly system: string;
}

/** SQL that turns rows of a table into records. */
export interface RecordPlan {
	readonly table: Table;
	/** The columns of the table that are read. */
	readonly columns: readonly string[];
	/** Adds computed columns to the table's rows, and may make several rows of one. */
	readonly rows?: (rows: string) => string;
	/** A join with the table, whose alias is `m`. */
	readonly joined: string | undefined;
	/** SQL condition for rows without a time that are left out; by default they are refused. */
	readonly untimed?: string;
	/** SQL for a whole number by which the records of a file are ordered. */
	readonly order: string;
	readonly patient: string;
	readonly time: string;
	readonly code: string;
	readonly system: string;
	readonly kind: string;
	readonly value: string;
	readonly unit?: string;
	/**
	 * The same without checks for blanks and words for missing values, and with a column read as dates: faster, and correct
	 * if nothing is unusual.
	 */
	readonly quick:
		| (Texts & { readonly dates: string | undefined; readonly time: string })
		| undefined;
	/** The source columns, for messages. */
	readonly from: {
		readonly patient: Found;
		readonly time: Found;
		readonly system: Found | undefined;
		readonly kind: Found | undefined;
		/** The key of a join in the main table, and the file of the second table. */
		readonly key: { readonly column: Found; readonly file: string } | undefined;
		readonly unit: TimeIs;
		readonly format: string | undefined;
	};
}

export interface Inserted {
	readonly rows: number;
	/** Rows without a code, which were left out. */
	readonly empty: number;
	/** Rows without a time, which were left out; 0 where every record needs one. */
	readonly untimed: number;
	/** Values that are not numbers, which were left empty. */
	readonly noNumbers: number;
}

const noCode = `(code IS NULL OR ${isMissingSql("code")})`;
const noPatient = `(patient IS NULL OR ${isMissingSql("patient")})`;
/** Unusual rows; DuckDB's reader also turns words such as infinity into 1900-01-01. */
const odd = (unit: TimeIs) =>
	`patient IS NULL OR code IS NULL OR ${isBadTime("time", unit)} OR (time = -25567 AND ${unit === "date"}) OR system IS NULL OR kind IS NULL OR isnan(value)`;
const faulty = (unit: TimeIs) =>
	`(NOT ${noCode} AND (${noPatient} OR ${isBadTime("time", unit)} OR system IS NULL OR kind IS NULL))`;

const selected = (plan: RecordPlan, how: Texts & { readonly time: string } = plan) =>
	`SELECT ${plan.order} AS row, ${how.patient} AS patient, ${how.time} AS time, ${how.code} AS code, ${how.system} AS system, ${plan.kind} AS kind, ${plan.value} AS value, ${plan.unit ?? "NULL"} AS unit`;

/** SQL for the records of numbered rows. */
const recordsFrom = ({ rows = (sql) => sql, joined }: RecordPlan, numberedRows: string) =>
	`${rows(numberedRows)} AS m ${joined ?? ""}`;

/** Adds the rows of a table to `record` and checks them. */
export async function insertRecords(
	store: Store,
	plan: RecordPlan,
	badRows?: BadRows,
): Promise<Inserted> {
	const rows = await adoptCopy(store, plan);
	if (rows !== undefined) return { rows, empty: 0, untimed: 0, noNumbers: 0 };
	return withNumberedRows(store, plan.table, plan.columns, (rows) =>
		insertChecked(store, plan, rows, badRows),
	);
}

async function insertChecked(
	store: Store,
	plan: RecordPlan,
	numberedRows: string,
	badRows: BadRows | undefined,
): Promise<Inserted> {
	const { unit } = plan.from;
	const from = recordsFrom(plan, numberedRows);
	const inserted = await store.addRecords(`${selected(plan)} FROM ${from}`);
	const untimed = plan.untimed
		? await store.count(`${numberedRows} AS m WHERE ${plan.untimed}`)
		: 0;
	const [counts] = await store.all<{ rows: number; empty: number; bad: number; nan: number }>(
		`SELECT count(*) AS rows, count(*) FILTER (${noCode}) AS empty, count(*) FILTER (${faulty(unit)}) AS bad, count(*) FILTER (isnan(value) AND NOT ${noCode}) AS nan FROM stored_record WHERE ${inserted}`,
	);
	const { rows = 0, empty = 0, bad = 0, nan = 0 } = counts ?? {};
	if (bad > 0) {
		const faults = faultyRows(plan, from);
		const badCount = await store.count(`(SELECT DISTINCT file_row FROM ${faults})`);
		await reportBad(badRows, badCount, (most) => explainFaulty(store, plan, faults, most));
		await store.run(`DELETE FROM stored_record WHERE ${inserted} AND ${faulty(unit)}`);
	}
	if (empty > 0) await store.run(`DELETE FROM stored_record WHERE ${inserted} AND ${noCode}`);
	if (nan > 0) await store.run(`UPDATE stored_record SET value = NULL WHERE isnan(value)`);
	return { rows: rows + untimed, empty, untimed, noNumbers: nan };
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
		const rows = await copyRows(store, copy, plan.columns, source);
		const records = `${selected(plan, quick)} FROM ${rows} AS m`;
		const [look] = await store.all<{ rows: number; odd: number }>(
			`SELECT count(*) AS rows, count(*) FILTER (${odd(plan.from.unit)}) AS odd FROM (${records})`,
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

/** SQL for the invalid rows of a table: what they hold, and the row of the file. A row may have several codes. */
function faultyRows(plan: RecordPlan, records: string): string {
	const { from } = plan;
	const raw = (column: Found | undefined) => (column ? rawText(column) : "NULL");
	return `(SELECT * FROM (${selected(plan)}, m.${rowOfFile} AS file_row, ${raw(from.time)} AS time_text, ${raw(from.system)} AS system_text, ${raw(from.key?.column)} AS key_text, ${from.key ? `j.${joinKey} IS NOT NULL` : "true"} AS matched FROM ${records}) WHERE ${faulty(from.unit)})`;
}

interface Faulty {
	readonly [column: string]: string | number | boolean | null;
	readonly row: number;
	readonly no_patient: boolean;
	readonly bad_time: boolean;
	readonly bad_system: boolean;
	readonly time: number | null;
	readonly time_text: string | null;
	readonly system_text: string | null;
	readonly key_text: string | null;
	readonly matched: boolean;
}

/** What is wrong with the first invalid rows. */
async function explainFaulty(
	store: Store,
	plan: RecordPlan,
	faults: string,
	most: number,
): Promise<string[]> {
	const rows = await store.all<Faulty>(
		`SELECT DISTINCT ON (file_row) file_row AS row, ${noPatient} AS no_patient, ${isBadTime("time", plan.from.unit)} AS bad_time, system IS NULL AS bad_system, time, time_text, system_text, key_text, matched FROM ${faults} ORDER BY file_row LIMIT ${most}`,
	);
	const places = await plan.table.places(rows.map(({ row }) => row));
	return rows.map((row, at) => `${places[at]}: ${faultOf(row, plan)}`);
}

function faultOf(row: Faulty, { table, from }: RecordPlan): string {
	const { key } = from;
	if (key && !row.matched)
		return row.key_text === null
			? `${key.column.name} is empty, so that no row of ${key.file} belongs to it; fill it in or remove the row`
			: `${key.column.name} ${short(row.key_text)} is not in ${key.file}; add it there or remove the row`;
	if (row.no_patient)
		return `${from.patient.name} is empty; every record needs a patient: fill it in or remove the row`;
	if (row.bad_time) {
		const place = from.time.table === table ? "" : `${from.time.table.file}: `;
		return place + badTime(row.time_text, row.time, from.time, from.unit, from.format);
	}
	if (row.bad_system && from.system)
		return row.system_text?.trim()
			? `${from.system.name} is ${short(row.system_text)}, which is no code system; ${systemRemedy}`
			: `${from.system.name} is empty; ${systemRemedy}`;
	return `${from.kind?.name ?? "kind"} is not one of ${recordKinds.join(", ")}`;
}

const short = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
