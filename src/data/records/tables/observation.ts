import { InputError } from "../../../base/errors.js";
import { counted } from "../bad-rows.js";
import type { TimeIs } from "../rows.js";
import type { RecordSource, Store } from "../store.js";
import { type Found, openTable, rowOfFile, type Table, withNumberedRows } from "../table.js";
import { endNames, patientNames, startNames, type TableOptions } from "./column-names.js";
import { columnLikely, missingColumn } from "./columns.js";
import {
	badTime,
	daysBeside,
	isBadTime,
	rawText,
	recordUnit,
	textOf,
	type UnitBeside,
	unitBeside,
} from "./values.js";

interface Options extends Pick<TableOptions, "dateFormat" | "delimiter"> {
	/** The unit of the times of the file, if it is not that of the records. */
	readonly observationTimeIs?: TimeIs | undefined;
}

/** The same source with the observation periods of a file: patient, start and end, both days observed. */
export const withObservation = (
	source: RecordSource,
	file: string,
	options: Options = {},
): RecordSource => ({
	...source,
	files: [...(source.files ?? []), file],
	async load(store, bad) {
		const { notes, observation, ...loaded } = await source.load(store, bad);
		const replaced = observation
			? ["--observation names a file: the observation periods of the source are not used"]
			: [];
		await store.run("DELETE FROM observation");
		const table = await openTable(store, file, options.delimiter);
		const records = recordUnit(loaded);
		const beside = unitBeside(records, "observationTimeIs", options.observationTimeIs);
		await loadObservation(store, table, beside, options);
		const counts = await countedPeriods(store, file);
		return {
			...loaded,
			times: { ...loaded.times, records, observation: beside.unit },
			notes: [...notes, ...replaced, counts],
			observation: "file",
		};
	},
});

/** A note on the periods of a file, after its patients are compared with those of the records. */
async function countedPeriods(store: Store, file: string): Promise<string> {
	const patients = await store.count("(SELECT DISTINCT patient FROM observation)");
	const seen = await store.count(
		"(SELECT DISTINCT patient FROM record WHERE patient IN (SELECT patient FROM observation))",
	);
	if (seen === 0)
		throw new InputError(
			`${file}: none of its ${counted(patients, "patient")} has a record; expected the patient ids of the records: check the column`,
		);
	const periods = counted(await store.count("observation"), "observation period");
	const strangers = patients - seen;
	return `${file}: ${periods} of ${counted(patients, "patient")}${strangers > 0 ? `, ${strangers} of them without a record` : ""}`;
}

interface Fault {
	readonly [column: string]: string | number | null;
	readonly row: number;
	readonly other: number | null;
	readonly fault: number;
	readonly first: number | null;
	readonly last: number | null;
	readonly start_text: string | null;
	readonly end_text: string | null;
}

/** Reads observation periods into table `observation`. */
export async function loadObservation(
	store: Store,
	table: Table,
	beside: UnitBeside,
	{ dateFormat }: Options,
): Promise<void> {
	const { unit } = beside;
	const tables = [{ table, alias: "m" }];
	const need = (names: typeof startNames, what: string, name: string) => {
		const column = columnLikely(tables, names);
		if (!column) throw missingColumn(tables, what, `call it ${name}`);
		return column;
	};
	const patient = need(patientNames, "the patient", "patient");
	const start = need(startNames, "the first day of a period", "start");
	const end = need(endNames, "the last day of a period", "end");
	const days = (column: Found) => `floor(${daysBeside(column, beside, dateFormat)})`;
	const names = [patient.name, start.name, end.name];
	await withNumberedRows(store, table, names, (rows) =>
		store.run(`
			CREATE OR REPLACE TEMP TABLE given_observation AS
			SELECT m.${rowOfFile} AS row, ${textOf(patient, "whole")} AS patient, ${days(start)} AS first,
				${days(end)} AS last, ${rawText(start)} AS start_text, ${rawText(end)} AS end_text
			FROM ${rows} AS m`),
	);
	const [bad] = await store.all<Fault>(`
		SELECT row, other, first, last, start_text, end_text, CASE
			WHEN patient IS NULL THEN 0
			WHEN ${isBadTime("first", unit)} THEN 1
			WHEN ${isBadTime("last", unit)} THEN 2
			WHEN last < first THEN 3
			WHEN first <= latest THEN 4 END AS fault
		FROM (SELECT *, max(last) OVER earlier AS latest, arg_max(row, last) OVER earlier AS other
			FROM given_observation WINDOW earlier AS (PARTITION BY patient ORDER BY first, last, row
				ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
		WHERE fault IS NOT NULL ORDER BY fault = 4, row LIMIT 1`);
	if (bad) {
		const other = bad.other === null ? "" : await table.place(bad.other);
		const what = explained(bad, { patient, start, end }, other, unit, dateFormat);
		throw new InputError(`${await table.place(bad.row)}: ${what}`);
	}
	if ((await store.count("given_observation")) === 0)
		throw new InputError(
			`${table.file} contains no rows below the header; expected one row per observation period`,
		);
	await store.run(
		"INSERT INTO observation SELECT patient, first, last FROM given_observation ORDER BY row",
	);
	await store.run("DROP TABLE given_observation");
}

function explained(
	{ fault, first, last, start_text, end_text }: Fault,
	{ patient, start, end }: Readonly<Record<"patient" | "start" | "end", Found>>,
	other: string,
	unit: TimeIs,
	format: string | undefined,
): string {
	const shown = (text: string | null) => JSON.stringify((text ?? "").trim().slice(0, 40));
	const day = (text: string | null, days: number | null, column: Found) =>
		text?.trim()
			? badTime(text, days, column, unit, format)
			: `${column.name} is empty; every period needs its first and last day: fill it in or remove the row`;
	if (fault === 0)
		return `${patient.name} is empty; every period needs a patient: fill it in or remove the row`;
	if (fault === 1) return day(start_text, first, start);
	if (fault === 2) return day(end_text, last, end);
	if (fault === 3)
		return `${end.name} is ${shown(end_text)}, before ${start.name} ${shown(start_text)}; expected the last observed day, on or after the first: correct it or remove the row`;
	return `the period from ${shown(start_text)} to ${shown(end_text)} overlaps that of the same patient at ${other}; expected periods without a day in common: join the two or correct one`;
}
