import type { Sex, Split } from "../records/rows.js";
import { readColumns } from "./parquet.js";

/** The columns of patients.parquet; a patient's number is its row. */
export interface PatientColumns {
	readonly id: readonly string[];
	/** In days on the axis of the events, like death. */
	readonly birth: readonly (number | null)[];
	readonly sex: readonly (Sex | null)[];
	readonly death: readonly (number | null)[];
	readonly split: readonly Split[];
	/** Row of the patient's first event. */
	readonly first: Int32Array;
	readonly count: Int32Array;
}

export async function readPatients(file: string): Promise<PatientColumns> {
	const plain = ["id", "birth", "sex", "death", "split"] as const;
	const { first, count, ...columns } = await readColumns(file, [...plain, "first", "count"]);
	return {
		...(columns as Omit<PatientColumns, "first" | "count">),
		first: Int32Array.from(first as number[]),
		count: Int32Array.from(count as number[]),
	};
}
