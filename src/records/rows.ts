export type Sex = "female" | "male";

export type RecordKind = "diagnosis" | "drug" | "other";

/** The one row every reader yields. */
export interface RecordRow {
	readonly patient: string;
	/** Days on the source's own axis. */
	readonly time: number;
	readonly code: string;
	/** The classification the code belongs to: a code is known by (system, code). */
	readonly system: string;
	readonly kind: RecordKind;
	readonly value: number | null;
}

/** All rows of one patient, sorted by time, and what is known of the person. */
export interface PatientRecords {
	readonly patient: string;
	/** Days, on the axis of the rows. */
	readonly birth: number | null;
	readonly sex: Sex | null;
	readonly rows: readonly RecordRow[];
	/** Where this was read, for messages: `file:line 12`. */
	readonly where: string;
}

export interface CodeName {
	readonly name: string;
	readonly category: string | null;
	readonly kind: RecordKind | null;
}

/** An opened source of records. A new format is a new value of this type. */
export interface RecordSource {
	readonly format: string;
	readonly path: string;
	/** Streams the patients, each once. */
	patients(): AsyncIterable<PatientRecords>;
	nameOf(system: string, code: string): CodeName | undefined;
	/** What was put right on the way; complete once `patients` is exhausted. */
	notes(): readonly string[];
}
