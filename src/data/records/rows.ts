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

export const timeUnits = ["date", "age-days", "age-years", "days", "hours", "minutes"] as const;
/** The unit of a time column. */
export type TimeIs = (typeof timeUnits)[number];

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
