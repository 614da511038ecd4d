import { daysFromText, isFarOff, isYear } from "../dates.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import { knownSystems, systemNamed } from "../systems.js";
import { sexes } from "../words.js";
import columnOrders from "./cdm-5.4.json" with { type: "json" };

/** The part of an OMOP CDM table that is read. */
export interface CdmTable {
	readonly name: string;
	/** Our name for a column → the CDM's. */
	readonly columns: Readonly<Record<string, string>>;
	/** Required columns (our names). */
	readonly required: readonly string[];
}

/** A table of the CDM to copy into the store. */
interface StagingRequest {
	readonly table: CdmTable;
	/** The temporary table to create. */
	readonly into: string;
	/** SQL that reads `from`, whose columns have our names and are VARCHAR; absent columns are NULL. */
	select(from: string): string;
	/** For a database: a condition on the rows to send. `column` gives the SQL of a CDM column. */
	readonly only?: ((column: (name: string) => string) => string) | undefined;
}

/** A source of CDM tables: a folder of files, or a database. */
export interface TableSource {
	has(table: CdmTable): boolean;
	stage(store: Store, request: StagingRequest): Promise<void>;
	/** The location of a row (from 1) of a table, for messages. */
	placeOf(table: CdmTable, row: number, patient: string | null): Promise<string>;
	/** Cheap SQL for the location of every row of a staged table. */
	placeSql(table: CdmTable): string;
	/** The name of a table for messages: the file, or the schema and table. */
	nameOf(table: CdmTable): string;
	/** Assumptions made while reading. */
	readonly notes: readonly string[];
}

/** The columns of the tables in their order in CDM 5.4, for files without a header. */
export const columnOrderOf = ({ name }: CdmTable): readonly string[] =>
	(columnOrders as Readonly<Record<string, string>>)[name]?.split(" ") ?? [];

export const person: CdmTable = {
	name: "person",
	columns: {
		patient: "person_id",
		gender: "gender_concept_id",
		year: "year_of_birth",
		month: "month_of_birth",
		day: "day_of_birth",
		datetime: "birth_datetime",
	},
	required: ["patient", "year"],
};

export const death: CdmTable = {
	name: "death",
	columns: { patient: "person_id", date: "death_date", datetime: "death_datetime" },
	required: ["patient", "date"],
};

export const observationPeriod: CdmTable = {
	name: "observation_period",
	columns: {
		patient: "person_id",
		start_date: "observation_period_start_date",
		end_date: "observation_period_end_date",
	},
	required: ["patient", "start_date", "end_date"],
};

/** A table of events: patient, time, standard concept and source code. */
const events = (name: string, what: string, start: string): CdmTable => ({
	name,
	columns: {
		patient: "person_id",
		concept: `${what}_concept_id`,
		date: `${start}_date`,
		datetime: `${start}_datetime`,
		source_concept: `${what}_source_concept_id`,
		source_value: `${what}_source_value`,
	},
	required: ["patient", "concept", "date"],
});

export const conditionOccurrence = events("condition_occurrence", "condition", "condition_start");
export const conditionEra = events("condition_era", "condition", "condition_era_start");
export const drugExposure = events("drug_exposure", "drug", "drug_exposure_start");
export const drugEra = events("drug_era", "drug", "drug_era_start");
export const observation = events("observation", "observation", "observation");

const measurements = events("measurement", "measurement", "measurement");
export const measurement: CdmTable = {
	...measurements,
	columns: {
		...measurements.columns,
		value: "value_as_number",
		unit: "unit_concept_id",
		unit_text: "unit_source_value",
	},
};

export const concept: CdmTable = {
	name: "concept",
	columns: {
		concept: "concept_id",
		name: "concept_name",
		vocabulary: "vocabulary_id",
		code: "concept_code",
		invalid: "invalid_reason",
	},
	required: ["concept", "name", "vocabulary", "code"],
};

export const conceptRelationship: CdmTable = {
	name: "concept_relationship",
	columns: {
		first: "concept_id_1",
		second: "concept_id_2",
		relation: "relationship_id",
		invalid: "invalid_reason",
	},
	required: ["first", "second", "relation"],
};

export const cdmTables: readonly CdmTable[] = [
	person,
	death,
	observationPeriod,
	conditionOccurrence,
	conditionEra,
	drugExposure,
	drugEra,
	observation,
	measurement,
	concept,
	conceptRelationship,
];

/** How the texts of a table become typed columns; a text that cannot be read becomes NULL. */
interface Staging {
	readonly table: CdmTable;
	/** SQL for values, given the texts under our names. */
	readonly values: Readonly<Record<string, string>>;
	/** SQL for further values, given these; the text of a column is `raw_` and its name. */
	readonly derived?: Readonly<Record<string, string>>;
	/** When a column makes its row faulty; the first one counts. */
	readonly faults: Readonly<Record<string, string>>;
	/** The columns of the staged table, besides `row`, `fault` (a column) and `got` (its text). */
	readonly staged: readonly string[];
}

const listed = (columns: Readonly<Record<string, string>>): string =>
	Object.entries(columns)
		.map(([name, sql]) => `, ${sql} AS ${name}`)
		.join("");

function stagedFrom(from: string, { table, values, derived = {}, faults, staged }: Staging) {
	const raw = Object.fromEntries(Object.keys(table.columns).map((name) => [`raw_${name}`, name]));
	const checks = Object.entries(faults).map(([name, fault]) => `WHEN ${fault} THEN '${name}'`);
	const texts = Object.keys(faults).map((name) => `WHEN '${name}' THEN raw_${name}`);
	return `
	SELECT row, ${staged.join(", ")}, fault, CASE fault ${texts.join(" ")} END AS got
	FROM (SELECT *, CASE ${checks.join(" ")} END AS fault
		FROM (SELECT *${listed(derived)}
			FROM (SELECT row${listed(values)}${listed(raw)} FROM ${from})))`;
}

const filled = (text: string): string => `nullif(trim(${text}), '')`;

/** Whole numbers, also written as 8507.0, as some tools do in columns with empty fields. */
const whole = (text: string): string =>
	`CASE WHEN contains(${text}, '.') AND NOT regexp_full_match(trim(${text}), '[0-9]+\\.0*')
		THEN NULL ELSE try_cast(${text} AS BIGINT) END`;

const identity = (text: string): string =>
	`CASE WHEN ends_with(${text}, '.0') THEN left(${filled(text)}, -2) ELSE ${filled(text)} END`;

/** SQL condition: a column has a text, but no value. */
const isUnread = (name: string): string =>
	`${name} IS NULL AND ${filled(`raw_${name}`)} IS NOT NULL`;

const isUnreadTime = (name: string): string => `${isUnread(name)} OR ${isFarOff(name)}`;
const isNoTime = (days: string): string => `${days} IS NULL OR ${isFarOff(days)}`;

const patient = { patient: identity("patient") };
const patientFault = { patient: "patient IS NULL" };

/** A time that may be in two columns: the precise one counts, and the other is read only without it. */
const dateOrTime = {
	values: { ...patient, datetime: daysFromText("datetime") },
	derived: { time: `coalesce(datetime, ${daysFromText("raw_date")})` },
	faults: { ...patientFault, datetime: isUnreadTime("datetime"), date: isNoTime("time") },
};

const eventValues = {
	...dateOrTime.values,
	concept: whole("concept"),
	source_concept: whole("source_concept"),
	source_value: filled("source_value"),
};

const eventStaging: Omit<Staging, "table"> = {
	...dateOrTime,
	values: eventValues,
	faults: {
		...dateOrTime.faults,
		concept: isUnread("concept"),
		source_concept: isUnread("source_concept"),
	},
	staged: ["patient", "time", "concept", "source_concept", "source_value"],
};

export const eventsFrom = (from: string): string =>
	stagedFrom(from, { ...eventStaging, table: conditionOccurrence });

/** The same, with value, unit (a concept) and unit_text; a value that is no number is left out. */
export const measurementsFrom = (from: string): string =>
	stagedFrom(from, {
		...eventStaging,
		table: measurement,
		values: {
			...eventValues,
			value: `try_cast(${filled("value")} AS DOUBLE)`,
			unit: `nullif(${whole("unit")}, 0)`,
			unit_text: filled("unit_text"),
		},
		staged: [...eventStaging.staged, "value", "unit", "unit_text"],
	});

export const deathsFrom = (from: string): string =>
	stagedFrom(from, { ...dateOrTime, table: death, staged: ["patient", "time"] });

export const periodsFrom = (from: string): string =>
	stagedFrom(from, {
		table: observationPeriod,
		values: {
			...patient,
			start_date: daysFromText("start_date"),
			end_date: daysFromText("end_date"),
		},
		faults: {
			...patientFault,
			start_date: isNoTime("start_date"),
			end_date: isNoTime("end_date"),
		},
		staged: ["patient", "start_date AS first", "end_date AS last"],
	});

const sexOf = (concept: string): string => {
	const ids = [...sexes].filter(([word, sex]) => /^\d+$/.test(word) && sex !== null);
	const cases = ids.map(([id, sex]) => `WHEN ${id} THEN ${quoted(String(sex))}`);
	return `CASE ${concept} ${cases.join(" ")} END`;
};

/** 1 July of a year alone, the 1st of a month alone. */
const birthDate = daysFromText(
	`CASE WHEN ${isYear("year")} THEN printf('%04d-%02d-%02d', year, coalesce(nullif(month, 0), 7),
		CASE WHEN nullif(month, 0) IS NULL THEN 1 ELSE coalesce(nullif(day, 0), 1) END) END`,
);

/** With `guessed`: the missing part of the birth date. */
export const peopleFrom = (from: string): string =>
	stagedFrom(from, {
		table: person,
		values: {
			...patient,
			datetime: daysFromText("datetime"),
			gender: whole("gender"),
			year: whole("year"),
			month: whole("month"),
			day: whole("day"),
		},
		derived: { date: birthDate },
		faults: {
			...patientFault,
			datetime: isUnreadTime("datetime"),
			year: `${isUnread("year")} OR NOT ${isYear("nullif(year, 0)")}`,
			month: `${isUnread("month")} OR month NOT BETWEEN 0 AND 12`,
			day: `${isUnread("day")} OR (nullif(year, 0) IS NOT NULL AND date IS NULL)`,
			gender: isUnread("gender"),
		},
		staged: [
			"patient",
			"coalesce(datetime, date) AS birth",
			`${sexOf("gender")} AS sex`,
			"gender",
			`CASE WHEN datetime IS NULL AND nullif(year, 0) IS NOT NULL THEN
				CASE WHEN nullif(month, 0) IS NULL THEN 'month' WHEN nullif(day, 0) IS NULL THEN 'day' END END AS guessed`,
		],
	});

/** OMOP vocabularies of diagnoses, with our name of the system. */
const icdVocabularies: ReadonlyMap<string, string> = new Map([
	["ICD10CM", "ICD10CM"],
	["ICD9CM", "ICD9CM"],
	["ICD10", systemNamed("icd10") ?? "ICD10CM"],
]);

const systemOf = (vocabulary: string): string => {
	const cases = [...icdVocabularies].map(
		([name, system]) => `WHEN ${quoted(name)} THEN ${quoted(system)}`,
	);
	const others = knownSystems.filter((name) => name !== "OMOP" && !icdVocabularies.has(name));
	return `CASE ${vocabulary} ${cases.join(" ")} ELSE
		CASE WHEN ${vocabulary} IN (${others.map(quoted).join(", ")}) THEN ${vocabulary} END END`;
};

export const icdVocabularyList = [...icdVocabularies.keys()].map(quoted).join(", ");

/** With `system` (NULL if unknown), `icd` and `current`; for concepts in use and all of ICD. */
export const conceptsFrom = (from: string): string => `${stagedFrom(from, {
	table: concept,
	values: {
		concept: whole("concept"),
		vocabulary: filled("vocabulary"),
		code: filled("code"),
		name: filled("name"),
		invalid: filled("invalid"),
	},
	faults: { concept: "concept IS NULL" },
	staged: [
		"concept",
		`${systemOf("vocabulary")} AS system`,
		"code",
		"name",
		`coalesce(vocabulary IN (${icdVocabularyList}), false) AS icd`,
		"invalid IS NULL AS current",
	],
})}
	WHERE fault IS NOT NULL OR vocabulary IN (${icdVocabularyList})
		OR concept IN (SELECT concept FROM omop_used)`;

export const relations = ["Mapped from", "Maps to"] as const;

/** The concepts `standard` and `source` of a relation, whichever comes first. */
export const relationsFrom = (from: string): string => `SELECT * FROM (${stagedFrom(
	`(SELECT * FROM ${from} WHERE trim(relation) IN (${relations.map(quoted).join(", ")})
		AND ${filled("invalid")} IS NULL)`,
	{
		table: conceptRelationship,
		values: {
			first: whole("first"),
			second: whole("second"),
			onward: `trim(relation) = ${quoted(relations[1])}`,
		},
		faults: { first: "first IS NULL", second: "second IS NULL" },
		staged: [
			"CASE WHEN onward THEN second ELSE first END AS standard",
			"CASE WHEN onward THEN first ELSE second END AS source",
		],
	},
)})
	WHERE fault IS NOT NULL OR (standard IN (SELECT concept FROM omop_used)
		AND source IN (SELECT concept FROM omop_concept WHERE icd))`;
