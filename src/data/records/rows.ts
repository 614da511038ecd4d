import type { BadRows } from "./bad-rows.js";
import type { Store } from "./store.js";
import type { TimeIs } from "./tables/column-names.js";

export type Sex = "female" | "male";

export const recordKinds = ["diagnosis", "drug", "procedure", "laboratory", "other"] as const;
export type RecordKind = (typeof recordKinds)[number];

/** The splits of a dataset. */
export const splitNames = ["train", "valid", "test"] as const;
export type Split = (typeof splitNames)[number];

/** A record; every reader yields these. */
export interface RecordRow {
	readonly patient: string;
	/** Days on the axis of the source (see `Loaded.axis`). */
	readonly time: number;
	readonly code: string;
	/** The classification of the code (see `systems.ts`); (system, code) identifies it. */
	readonly system: string;
	readonly kind: RecordKind;
	readonly value: number | null;
	/** The unit of the value; values of one code in different units are on different scales. */
	readonly unit?: string | null;
}

/** Facts about a person. A person may have several rows. */
export interface PersonRow {
	readonly patient: string;
	/** Days on the axis of the records, like death. */
	readonly birth: number | null;
	readonly sex: Sex | null;
	readonly death: number | null;
	readonly split: Split | null;
	/** The location in the source, for messages: `people.csv: row 12`. */
	readonly place: string;
}

export interface CodeNameRow {
	readonly system: string;
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
	/** Overrides the kind of its records. */
	readonly kind: RecordKind | null;
}

/** A time in which a patient was observed. */
export interface ObservationRow {
	readonly patient: string;
	/** The first and last day, both observed; days on the axis of the records. */
	readonly first: number;
	readonly last: number;
}

/** Sources of observation periods: the OMOP table, the coverage of simulated people, a file of the user. */
export type ObservationOrigin = "observation_period" | "simulation" | "file";

/** The units in which the times of each kind of file were read; all are stored in days. */
export interface TimesRead {
	readonly records: TimeIs;
	/** Births and deaths. */
	readonly people?: TimeIs | undefined;
	readonly observation?: TimeIs | undefined;
	readonly labels?: TimeIs | undefined;
}

/** The result of loading a source. */
export interface Loaded {
	/** `dates`: days since 1970-01-01. `days`: the source defines day 0, as for ages. */
	readonly axis: "dates" | "days";
	/** By default dates, or days. */
	readonly times?: TimesRead | undefined;
	/** What was corrected or left out. */
	readonly notes: readonly string[];
	/** What is probably wrong. */
	readonly warnings?: readonly string[] | undefined;
	/** The origin of table `observation`; absent if the source does not say when patients were observed. */
	readonly observation?: ObservationOrigin | undefined;
}

/** An open source of records; each format has a function that returns one. */
export interface RecordSource {
	readonly format: string;
	readonly path: string;
	/** The files that the store reads while loading; none by default. */
	readonly files?: readonly string[];
	/**
	 * Fills the tables `record`, `person`, `code_name` and, if it knows it, `observation`, once. Rows that cannot be read
	 * are left out and added to `bad`; without it, the first is refused.
	 */
	load(store: Store, bad?: BadRows): Promise<Loaded>;
}
