import type { Store } from "./store.js";

export type Sex = "female" | "male";

export const recordKinds = ["diagnosis", "drug", "other"] as const;
export type RecordKind = (typeof recordKinds)[number];

/** Where patients go when the source says so itself. */
export const splitNames = ["train", "valid", "test"] as const;
export type Split = (typeof splitNames)[number];

/** The one row every reader yields. */
export interface RecordRow {
	readonly patient: string;
	/** Days on the source's own axis (see `Loaded.axis`). */
	readonly time: number;
	readonly code: string;
	/** The classification the code belongs to (see `systems.ts`): a code is known by (system, code). */
	readonly system: string;
	readonly kind: RecordKind;
	readonly value: number | null;
}

/** What a source knows of a person. It may say so in several rows that do not contradict each other. */
export interface PersonRow {
	readonly patient: string;
	/** Days, on the axis of the rows, as is death. */
	readonly birth: number | null;
	readonly sex: Sex | null;
	readonly death: number | null;
	readonly split: Split | null;
	/** Where this was read, for messages: `people.csv: row 12`. */
	readonly place: string;
}

export interface CodeNameRow {
	readonly system: string;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
	/** Replaces the kind its records came with. */
	readonly kind: RecordKind | null;
}

/** What a reader has to say after it has filled the store. */
export interface Loaded {
	/** `dates`: days since 1970-01-01. `days`: from an origin of the source's own, as in ages. */
	readonly axis: "dates" | "days";
	/** What was put right or left out on the way. */
	readonly notes: readonly string[];
}

/** An opened source of records. A new format is a new value of this type. */
export interface RecordSource {
	readonly format: string;
	readonly path: string;
	/** The files that the store itself reads while loading; none if left out. */
	readonly files?: readonly string[];
	/** Fills the tables `record`, `person` and `code_name`, once. */
	load(store: Store): Promise<Loaded>;
}
