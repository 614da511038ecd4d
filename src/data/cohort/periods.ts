import type { EventFile } from "./event-file.js";
import type { Period } from "./history.js";
import { periodOf } from "./history.js";
import { readCells } from "./parquet.js";
import type { PatientColumns } from "./patients.js";

/** The columns of observation.parquet, sorted by patient and start; `patient` is a patient's number. */
export interface PeriodColumns {
	readonly patient: Int32Array;
	/** In days on the axis of the events, like end. */
	readonly start: Float64Array;
	readonly end: Float64Array;
}

export async function readPeriods(file: string): Promise<PeriodColumns> {
	const columnsOf = (rows: number) => ({
		patient: new Int32Array(rows),
		start: new Float64Array(rows),
		end: new Float64Array(rows),
	});
	let columns = columnsOf(0);
	await readCells(file, ["patient", "start", "end"], (rows) => {
		columns = columnsOf(rows);
		return (name, row, value) => {
			columns[name][row] = value as number;
		};
	});
	return columns;
}

/** The periods of a patient, by number. */
export type PeriodsOf = (patient: number) => readonly Period[];

/** Looks periods up in their columns: arrays of a million patients' periods would take ten times the memory. */
export function periodsByPatient(
	{ patient, start, end }: PeriodColumns,
	patients: number,
): PeriodsOf {
	const first = new Int32Array(patients + 1); // first row of each patient
	for (const number of patient) first[number + 1]!++;
	for (let number = 0; number < patients; number++) first[number + 1]! += first[number]!;
	return (number) => {
		const own: Period[] = [];
		for (let row = first[number] as number; row < (first[number + 1] as number); row++)
			own.push({ start: start[row] as number, end: end[row] as number });
		return own;
	};
}

/** From the first to the last record of each patient; a death event (token `death`) does not count as a record. */
export async function recordPeriods(
	{ first, count }: PatientColumns,
	events: Pick<EventFile, "read">,
	death: number | undefined,
): Promise<PeriodsOf> {
	const all: (readonly Period[])[] = [];
	for (const [patient, row] of first.entries()) {
		const { times, tokens } = await events.read(row, count[patient] as number);
		all.push(periodOf(tokens.at(-1) === death ? times.subarray(0, -1) : times));
	}
	return (patient) => all[patient] as readonly Period[];
}

/** Whether days are inside the periods. Ask in order of patient and day: it goes through the periods once. */
export function isObservedInOrder({ patient, start, end }: PeriodColumns) {
	let row = 0;
	return (number: number, day: number): boolean => {
		while (
			(patient[row] as number) < number ||
			(patient[row] === number && (end[row] as number) < day)
		)
			row++;
		return patient[row] === number && (start[row] as number) <= day;
	};
}
