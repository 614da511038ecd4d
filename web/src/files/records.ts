import type { RecordKind, Sex } from "../../../src/records/rows.js";

/** A record as a file has it, before its code is looked up. */
export interface FileRecord {
	readonly patient: string;
	/** On the axis of the file, in days. */
	readonly day: number;
	readonly code: string;
	/** Unknown to the file: any system whose codes look like this. */
	readonly system: string | null;
	readonly kind: RecordKind;
}

export interface FilePerson {
	readonly birth: number | null;
	readonly sex: Sex | null;
}

/** What a file holds. */
export interface FileContent {
	readonly format: "CSV" | "FHIR";
	/** `dates`: days since 1970-01-01. `days`: from an origin of the file's own. */
	readonly axis: "dates" | "days";
	readonly records: readonly FileRecord[];
	readonly people: ReadonlyMap<string, FilePerson>;
	/** What was put right or left out on the way. */
	readonly notes: readonly string[];
}

/** 1 record, 2 records */
export const counted = (count: number, one: string, many = `${one}s`): string =>
	`${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
