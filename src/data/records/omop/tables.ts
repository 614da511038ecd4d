import type { Store } from "../store.js";

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
export interface StagingRequest {
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
