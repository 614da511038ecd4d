import { InputError } from "../../../base/errors.js";
import { counted } from "../bad-rows.js";
import type { TableOptions } from "../options.js";
import type { TimeIs } from "../rows.js";
import type { Column, Table } from "../sql.js";
import type { RecordSource, Store } from "../store.js";
import { openTable, stageRows } from "../table.js";
import { type Groups, usualNames } from "./column-names.js";
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

/** Reads observation periods into table `observation`. */
export async function loadObservation(
	store: Store,
	table: Table,
	beside: UnitBeside,
	{ dateFormat }: Options,
): Promise<void> {
	const { unit } = beside;
	const need = (names: Groups, what: string, name: string) => {
		const column = columnLikely([table], names);
		if (column) return column;
		throw missingColumn([table], what, `call it ${name}`);
	};
	const patient = need(usualNames.patient, "the patient", "patient");
	const start = need(usualNames.start, "the first day of a period", "start");
	const end = need(usualNames.end, "the last day of a period", "end");
	const days = (column: Column) => `floor(${daysBeside(column, beside, dateFormat)})`;
	const shown = (text: unknown) =>
		JSON.stringify(
			String(text ?? "")
				.trim()
				.slice(0, 40),
		);
	const dayFault = (name: "first" | "last", column: Column) => ({
		when: isBadTime(name, unit),
		say: ({ [name]: days, [`${name}_text`]: text }: Readonly<Record<string, unknown>>) =>
			text && String(text).trim()
				? `: ${badTime(String(text), days as number | null, column, unit, dateFormat)}`
				: `: ${column.name} is empty; every period needs its first and last day: fill it in or remove the row`,
	});
	const columns = {
		patient: textOf(patient, "whole"),
		first: days(start),
		last: days(end),
		first_text: rawText(start),
		last_text: rawText(end),
	};
	await stageRows(store, table, "given_observation", columns, {
		reads: [patient, start, end],
		faults: [
			{
				when: "patient IS NULL",
				say: () =>
					`: ${patient.name} is empty; every period needs a patient: fill it in or remove the row`,
			},
			dayFault("first", start),
			dayFault("last", end),
			{
				when: "last < first",
				say: (row) =>
					`: ${end.name} is ${shown(row.last_text)}, before ${start.name} ${shown(row.first_text)}; expected the last observed day, on or after the first: correct it or remove the row`,
			},
		],
	});
	const [overlap] = await store.all<{
		row: number;
		other: number;
		first_text: string;
		last_text: string;
	}>(
		`SELECT row, other, first_text, last_text FROM (
			SELECT *, max(last) OVER earlier AS latest, arg_max(row, last) OVER earlier AS other
			FROM given_observation WINDOW earlier AS (PARTITION BY patient ORDER BY first, last, row
				ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
		WHERE first <= latest ORDER BY row LIMIT 1`,
	);
	if (overlap) {
		const [[place], [other]] = [
			await table.places([overlap.row]),
			await table.places([overlap.other]),
		];
		throw new InputError(
			`${place}: the period from ${shown(overlap.first_text)} to ${shown(overlap.last_text)} overlaps that of the same patient at ${other}; expected periods without a day in common: join the two or correct one`,
		);
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
