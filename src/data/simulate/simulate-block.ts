import { simulatePatient } from "./patients.js";
import type { Format, PartEncoder, TableColumns, TablePart } from "./table-parts.js";
import { partEncoder } from "./table-parts.js";

export const tables = {
	claims: { patient: "text", date: "date", icd9: "text" },
	prescriptions: { patient: "text", date: "date", drug: "text", atc: "text", days_supply: "count" },
	people: { patient: "text", sex: "text", birth: "date", death: "date or nothing" },
	coverage: { patient: "text", from: "date", to: "date" },
} satisfies Record<string, TableColumns>;

export type TableName = keyof typeof tables;
export const tableNames = Object.keys(tables) as readonly TableName[];

/** Consecutive people of a population, encoded. */
export interface Block {
	readonly parts: Readonly<Record<TableName, TablePart>>;
	readonly records: number;
	readonly prescriptions: number;
}

export interface BlockRange {
	readonly seed: number;
	/** Numbers of the first and the last person, both included. */
	readonly first: number;
	readonly last: number;
	readonly format: Format;
}

/** People per block. A row group of Parquet has the records of one block; CSV files do not show their blocks. */
export const blockPeople: Readonly<Record<Format, number>> = { csv: 200, parquet: 1000 };

export function simulateBlock({ seed, first, last, format }: BlockRange): Block {
	const byTable = <T>(make: (name: TableName) => T) =>
		Object.fromEntries(tableNames.map((name) => [name, make(name)])) as Record<TableName, T>;
	const rows: Record<TableName, PartEncoder> = byTable((name) => partEncoder(format, tables[name]));
	let records = 0;
	let prescriptions = 0;
	for (let number = first; number <= last; number++) {
		const patient = simulatePatient(seed, number);
		const { id, person, death } = patient;
		rows.people.add(id, person.sex, person.birth, death);
		for (const [from, to] of person.coverage) rows.coverage.add(id, from, to);
		for (const { day, icd9 } of patient.claims) rows.claims.add(id, day, icd9);
		for (const { day, drug, atc, daysSupply } of patient.prescriptions)
			rows.prescriptions.add(id, day, drug, atc, daysSupply);
		records += patient.claims.length;
		prescriptions += patient.prescriptions.length;
	}
	return { parts: byTable((name) => rows[name].encode()), records, prescriptions };
}
