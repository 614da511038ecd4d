import { daysFromText, isFarOff, isYear } from "../dates.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import { knownSystems, systemNamed } from "../systems.js";
import { sexes } from "../words.js";

/** The part of an OMOP CDM table that is read. */
export interface CdmTable {
	readonly name: string;
	/** Our name for a column → the CDM's. */
	readonly columns: Readonly<Record<string, string>>;
	/** Required columns (our names). */
	readonly required: readonly string[];
	/** Column orders for files without a header, by CDM version, newest first. */
	readonly orders: Readonly<Record<string, readonly string[]>>;
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

const words = (text: string): string[] => text.trim().split(/\s+/);

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
	orders: {
		"5.4": words(`person_id gender_concept_id year_of_birth month_of_birth day_of_birth
			birth_datetime race_concept_id ethnicity_concept_id location_id provider_id care_site_id
			person_source_value gender_source_value gender_source_concept_id race_source_value
			race_source_concept_id ethnicity_source_value ethnicity_source_concept_id`),
	},
};

export const death: CdmTable = {
	name: "death",
	columns: { patient: "person_id", date: "death_date", datetime: "death_datetime" },
	required: ["patient", "date"],
	orders: {
		"5.4": words(`person_id death_date death_datetime death_type_concept_id cause_concept_id
			cause_source_value cause_source_concept_id`),
		"5.1": words(`person_id death_date death_type_concept_id cause_concept_id
			cause_source_value cause_source_concept_id`),
	},
};

export const observationPeriod: CdmTable = {
	name: "observation_period",
	columns: {
		patient: "person_id",
		start_date: "observation_period_start_date",
		end_date: "observation_period_end_date",
	},
	required: ["patient", "start_date", "end_date"],
	orders: {
		"5.4": words(`observation_period_id person_id observation_period_start_date
			observation_period_end_date period_type_concept_id`),
	},
};

/** A table of events: patient, time, standard concept and source code. */
const events = (
	name: string,
	what: string,
	start: string,
	orders: CdmTable["orders"],
): CdmTable => ({
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
	orders,
});

export const conditionOccurrence: CdmTable = events(
	"condition_occurrence",
	"condition",
	"condition_start",
	{
		"5.4": words(`condition_occurrence_id person_id condition_concept_id condition_start_date
			condition_start_datetime condition_end_date condition_end_datetime
			condition_type_concept_id condition_status_concept_id stop_reason provider_id
			visit_occurrence_id visit_detail_id condition_source_value condition_source_concept_id
			condition_status_source_value`),
		"5.3": words(`condition_occurrence_id person_id condition_concept_id condition_start_date
			condition_start_datetime condition_end_date condition_end_datetime
			condition_type_concept_id stop_reason provider_id visit_occurrence_id visit_detail_id
			condition_source_value condition_source_concept_id condition_status_source_value
			condition_status_concept_id`),
		"5.2": words(`condition_occurrence_id person_id condition_concept_id condition_start_date
			condition_start_datetime condition_end_date condition_end_datetime
			condition_type_concept_id stop_reason provider_id visit_occurrence_id
			condition_source_value condition_source_concept_id condition_status_source_value
			condition_status_concept_id`),
		"5.0": words(`condition_occurrence_id person_id condition_concept_id condition_start_date
			condition_end_date condition_type_concept_id stop_reason provider_id
			visit_occurrence_id condition_source_value condition_source_concept_id`),
	},
);

export const conditionEra: CdmTable = events("condition_era", "condition", "condition_era_start", {
	"5.4": words(`condition_era_id person_id condition_concept_id condition_era_start_date
		condition_era_end_date condition_occurrence_count`),
});

export const drugExposure: CdmTable = events("drug_exposure", "drug", "drug_exposure_start", {
	"5.4": words(`drug_exposure_id person_id drug_concept_id drug_exposure_start_date
		drug_exposure_start_datetime drug_exposure_end_date drug_exposure_end_datetime
		verbatim_end_date drug_type_concept_id stop_reason refills quantity days_supply sig
		route_concept_id lot_number provider_id visit_occurrence_id visit_detail_id
		drug_source_value drug_source_concept_id route_source_value dose_unit_source_value`),
	"5.2": words(`drug_exposure_id person_id drug_concept_id drug_exposure_start_date
		drug_exposure_start_datetime drug_exposure_end_date drug_exposure_end_datetime
		verbatim_end_date drug_type_concept_id stop_reason refills quantity days_supply sig
		route_concept_id lot_number provider_id visit_occurrence_id drug_source_value
		drug_source_concept_id route_source_value dose_unit_source_value`),
});

export const drugEra: CdmTable = events("drug_era", "drug", "drug_era_start", {
	"5.4": words(`drug_era_id person_id drug_concept_id drug_era_start_date drug_era_end_date
		drug_exposure_count gap_days`),
});

export const observation: CdmTable = events("observation", "observation", "observation", {
	"5.4": words(`observation_id person_id observation_concept_id observation_date
		observation_datetime observation_type_concept_id value_as_number value_as_string
		value_as_concept_id qualifier_concept_id unit_concept_id provider_id visit_occurrence_id
		visit_detail_id observation_source_value observation_source_concept_id unit_source_value
		qualifier_source_value value_source_value observation_event_id
		obs_event_field_concept_id`),
	"5.3": words(`observation_id person_id observation_concept_id observation_date
		observation_datetime observation_type_concept_id value_as_number value_as_string
		value_as_concept_id qualifier_concept_id unit_concept_id provider_id visit_occurrence_id
		visit_detail_id observation_source_value observation_source_concept_id unit_source_value
		qualifier_source_value`),
	"5.2": words(`observation_id person_id observation_concept_id observation_date
		observation_datetime observation_type_concept_id value_as_number value_as_string
		value_as_concept_id qualifier_concept_id unit_concept_id provider_id visit_occurrence_id
		observation_source_value observation_source_concept_id unit_source_value
		qualifier_source_value`),
});

const measurements = events("measurement", "measurement", "measurement", {
	"5.4": words(`measurement_id person_id measurement_concept_id measurement_date
		measurement_datetime measurement_time measurement_type_concept_id operator_concept_id
		value_as_number value_as_concept_id unit_concept_id range_low range_high provider_id
		visit_occurrence_id visit_detail_id measurement_source_value measurement_source_concept_id
		unit_source_value unit_source_concept_id value_source_value measurement_event_id
		meas_event_field_concept_id`),
	"5.3": words(`measurement_id person_id measurement_concept_id measurement_date
		measurement_datetime measurement_time measurement_type_concept_id operator_concept_id
		value_as_number value_as_concept_id unit_concept_id range_low range_high provider_id
		visit_occurrence_id visit_detail_id measurement_source_value measurement_source_concept_id
		unit_source_value value_source_value`),
});

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
	orders: {
		"5.4": words(`concept_id concept_name domain_id vocabulary_id concept_class_id
			standard_concept concept_code valid_start_date valid_end_date invalid_reason`),
	},
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
	orders: {
		"5.4": words(`concept_id_1 concept_id_2 relationship_id valid_start_date valid_end_date
			invalid_reason`),
	},
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

/*
 * SQL that converts the texts of a CDM table to typed columns. `row` is the number of a row, an unreadable value is
 * NULL; `fault` is its column (our name), and `got` its text.
 */

const filled = (text: string): string => `nullif(trim(${text}), '')`;

/** Whole numbers, also written as 8507.0, as some tools do in columns with empty fields. */
const whole = (text: string): string =>
	`CASE WHEN contains(${text}, '.') AND NOT regexp_full_match(trim(${text}), '[0-9]+\\.0*')
		THEN NULL ELSE try_cast(${text} AS BIGINT) END`;

const identity = (text: string): string =>
	`CASE WHEN ends_with(${text}, '.0') THEN left(${filled(text)}, -2) ELSE ${filled(text)} END`;

const unread = (text: string, value: string): string =>
	`${filled(text)} IS NOT NULL AND ${value} IS NULL`;

/** A cheap check of every row; the few that match are examined closely. */
const suspect = `(patient IS NULL OR time IS NULL OR concept IS NULL
	OR at_time IS NULL AND raw_datetime IS NOT NULL
	OR source_concept IS NULL AND raw_source_concept IS NOT NULL
	OR ${isFarOff("time")})`;

/** row, patient, time, concept, source_concept, source_value, and further columns. */
export const eventsFrom = (from: string, more: Readonly<Record<string, string>> = {}): string => `
	SELECT row, patient, time, concept, source_concept, source_value, fault,
		${Object.keys(more)
			.map((name) => `own_${name} AS ${name},`)
			.join(" ")}
		CASE fault WHEN 'date' THEN raw_date WHEN 'datetime' THEN raw_datetime
			WHEN 'concept' THEN raw_concept WHEN 'source_concept' THEN raw_source_concept END AS got
	FROM (SELECT *, CASE WHEN ${suspect} THEN CASE
				WHEN patient IS NULL THEN 'patient'
				WHEN ${unread("raw_datetime", "at_time")} OR ${isFarOff("at_time")} THEN 'datetime'
				WHEN time IS NULL OR ${isFarOff("time")} THEN 'date'
				WHEN ${unread("raw_concept", "concept")} THEN 'concept'
				WHEN ${unread("raw_source_concept", "source_concept")} THEN 'source_concept' END END AS fault
		FROM (SELECT *, coalesce(at_time, ${daysFromText("raw_date")}) AS time
			FROM (SELECT row, ${identity("patient")} AS patient, ${daysFromText("datetime")} AS at_time,
					${whole("concept")} AS concept, ${whole("source_concept")} AS source_concept,
					${filled("source_value")} AS source_value, date AS raw_date,
					datetime AS raw_datetime, concept AS raw_concept,
					source_concept AS raw_source_concept
					${Object.entries(more)
						.map(([name, sql]) => `, ${sql} AS own_${name}`)
						.join("")}
				FROM ${from})))`;

/** The same, with value, unit (a concept) and unit_text; a value that is no number is left out. */
export const measurementsFrom = (from: string): string =>
	eventsFrom(from, {
		value: `try_cast(${filled("value")} AS DOUBLE)`,
		unit: `nullif(${whole("unit")}, 0)`,
		unit_text: filled("unit_text"),
	});

/** row, patient, time. */
export const deathsFrom = (from: string): string => `
	SELECT row, patient, coalesce(at_time, at_date) AS time, fault,
		CASE fault WHEN 'date' THEN raw_date WHEN 'datetime' THEN raw_datetime END AS got
	FROM (SELECT *, CASE
			WHEN patient IS NULL THEN 'patient'
			WHEN ${unread("raw_datetime", "at_time")} OR ${isFarOff("at_time")} THEN 'datetime'
			WHEN at_time IS NULL AND (at_date IS NULL OR ${isFarOff("at_date")}) THEN 'date' END AS fault
		FROM (SELECT row, ${identity("patient")} AS patient, ${daysFromText("datetime")} AS at_time,
				${daysFromText("date")} AS at_date, date AS raw_date, datetime AS raw_datetime
			FROM ${from}))`;

/** row, patient, first, last. */
export const periodsFrom = (from: string): string => `
	SELECT row, patient, first, last, fault,
		CASE fault WHEN 'start_date' THEN raw_start WHEN 'end_date' THEN raw_end END AS got
	FROM (SELECT *, CASE
			WHEN patient IS NULL THEN 'patient'
			WHEN first IS NULL OR ${isFarOff("first")} THEN 'start_date'
			WHEN last IS NULL OR ${isFarOff("last")} THEN 'end_date' END AS fault
		FROM (SELECT row, ${identity("patient")} AS patient, ${daysFromText("start_date")} AS first,
				${daysFromText("end_date")} AS last, start_date AS raw_start, end_date AS raw_end
			FROM ${from}))`;

const sexOf = (concept: string): string => {
	const ids = [...sexes].filter(([word, sex]) => /^\d+$/.test(word) && sex !== null);
	const cases = ids.map(([id, sex]) => `WHEN ${id} THEN ${quoted(String(sex))}`);
	return `CASE ${concept} ${cases.join(" ")} END`;
};

/** row, patient, birth, sex, gender, and `guessed`: the missing part of the birth date. */
export const peopleFrom = (from: string): string => `
	SELECT row, patient, coalesce(at_time, at_date) AS birth, ${sexOf("gender")} AS sex, gender,
		CASE WHEN at_time IS NULL AND year IS NOT NULL THEN
			CASE WHEN month IS NULL THEN 'month' WHEN day IS NULL THEN 'day' END END AS guessed,
		fault,
		CASE fault WHEN 'datetime' THEN raw_datetime WHEN 'year' THEN raw_year
			WHEN 'month' THEN raw_month WHEN 'day' THEN raw_day WHEN 'gender' THEN raw_gender END AS got
	FROM (SELECT *, CASE
			WHEN patient IS NULL THEN 'patient'
			WHEN ${unread("raw_datetime", "at_time")} OR ${isFarOff("at_time")} THEN 'datetime'
			WHEN ${unread("raw_year", "read_year")} OR NOT ${isYear("year")} THEN 'year'
			WHEN ${unread("raw_month", "read_month")} OR month NOT BETWEEN 1 AND 12 THEN 'month'
			WHEN ${unread("raw_day", "read_day")} THEN 'day'
			WHEN year IS NOT NULL AND at_date IS NULL THEN 'day'
			WHEN ${unread("raw_gender", "gender")} THEN 'gender' END AS fault
		FROM (SELECT *, ${daysFromText(
			`CASE WHEN ${isYear("year")} THEN printf('%04d-%02d-%02d', year, coalesce(month, 7),
				CASE WHEN month IS NULL THEN 1 ELSE coalesce(day, 1) END) END`,
		)} AS at_date
			FROM (SELECT *, nullif(read_year, 0) AS year, nullif(read_month, 0) AS month,
					nullif(read_day, 0) AS day
				FROM (SELECT row, ${identity("patient")} AS patient, ${daysFromText("datetime")} AS at_time,
						${whole("gender")} AS gender, ${whole("year")} AS read_year,
						${whole("month")} AS read_month, ${whole("day")} AS read_day,
						gender AS raw_gender, year AS raw_year, month AS raw_month, day AS raw_day,
						datetime AS raw_datetime
					FROM ${from}))))`;

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

/** row, concept, system (NULL if unknown), code, name, icd, current; for concepts in use and all of ICD. */
export const conceptsFrom = (from: string): string => `
	SELECT row, concept, ${systemOf("vocabulary")} AS system, code, name,
		coalesce(vocabulary IN (${icdVocabularyList}), false) AS icd, invalid IS NULL AS current,
		fault, got
	FROM (SELECT row, ${whole("concept")} AS concept, ${filled("vocabulary")} AS vocabulary,
			${filled("code")} AS code, ${filled("name")} AS name, ${filled("invalid")} AS invalid,
			CASE WHEN ${whole("concept")} IS NULL THEN 'concept' END AS fault, concept AS got
		FROM ${from})
	WHERE fault IS NOT NULL OR vocabulary IN (${icdVocabularyList})
		OR concept IN (SELECT concept FROM omop_used)`;

export const relations = ["Mapped from", "Maps to"] as const;

/** row, standard, source. */
export const relationsFrom = (from: string): string => `
	SELECT row, standard, source, fault, got
	FROM (SELECT row, CASE WHEN onward THEN two ELSE one END AS standard,
			CASE WHEN onward THEN one ELSE two END AS source,
			CASE WHEN one IS NULL THEN 'first' WHEN two IS NULL THEN 'second' END AS fault,
			CASE WHEN one IS NULL THEN first ELSE second END AS got
		FROM (SELECT row, ${whole("first")} AS one, ${whole("second")} AS two, first, second,
				trim(relation) = ${quoted(relations[1])} AS onward
			FROM ${from}
			WHERE trim(relation) IN (${relations.map(quoted).join(", ")})
				AND ${filled("invalid")} IS NULL))
	WHERE fault IS NOT NULL OR (standard IN (SELECT concept FROM omop_used)
		AND source IN (SELECT concept FROM omop_concept WHERE icd))`;
