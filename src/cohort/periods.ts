import type { Period } from "./history.js";
import { periodOf } from "./history.js";
import type { EventFile } from "./parquet.js";
import { readColumns } from "./parquet.js";
import type { PatientColumns } from "./patients.js";

/** The columns of observation.parquet, sorted by patient and start; `patient` is a patient's number. */
export interface PeriodColumns {
	readonly patient: Int32Array;
	/** In days on the axis of the events, like end. */
	readonly start: Float64Array;
	readonly end: Float64Array;
}

export async function readPeriods(file: string): Promise<PeriodColumns> {
	const { patient, start, end } = await readColumns(file, ["patient", "start", "end"]);
	return {
		patient: Int32Array.from(patient as number[]),
		start: Float64Array.from(start as number[]),
		end: Float64Array.from(end as number[]),
	};
}

/** The periods of each patient, by number. */
export function periodsByPatient(
	{ patient, start, end }: PeriodColumns,
	patients: number,
): readonly (readonly Period[])[] {
	const all: Period[][] = Array.from({ length: patients }, () => []);
	for (const [row, number] of patient.entries())
		all[number]?.push({ start: start[row] as number, end: end[row] as number });
	return all;
}

/** From the first to the last record of each patient; a death event (token `death`) does not count as a record. */
export async function recordPeriods(
	{ first, count }: PatientColumns,
	events: EventFile,
	death: number | undefined,
): Promise<readonly (readonly Period[])[]> {
	const all: (readonly Period[])[] = [];
	for (const [patient, row] of first.entries()) {
		const { times, tokens } = await events.read(row, count[patient] as number);
		all.push(periodOf(tokens.at(-1) === death ? times.subarray(0, -1) : times));
	}
	return all;
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
