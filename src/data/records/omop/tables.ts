import { InputError } from "../../../base/errors.js";
import { daysFromText, isFarOff, isYear } from "../dates.js";
import { openDelimited } from "../delimited.js";
import type { Table } from "../sql.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import { knownSystems, systemNamed } from "../systems.js";
import type { FaultPlaces } from "../table.js";
import { stageRows } from "../table.js";
import { columnOf, noColumn } from "../tables/columns.js";
import { sexes } from "../words.js";
import columnOrders from "./cdm-5.4.json" with { type: "json" };

type Sql = Readonly<Record<string, string>>;

/** The part of an OMOP CDM table that is read, and how its texts become a staged table of typed columns. */
export interface CdmTable {
	readonly name: string;
	/** Our name for a column → the CDM's. */
	readonly columns: Readonly<Record<string, string>>;
	/** Required columns (our names). */
	readonly required: readonly string[];
	/** SQL condition on the texts, under our names, of the rows to read. */
	readonly only?: string;
	/** SQL for values, given these texts; a text that cannot be read becomes NULL. */
	readonly values: Sql;
	/** SQL for further values, given these; the text of a column is `raw_` and its name. */
	readonly derived?: Sql;
	/** When a column makes its row faulty; the first one counts. */
	readonly faults: Sql;
	/** SQL condition on the values of the rows to keep. */
	readonly keep?: string;
	/** The columns of the staged table, besides `row`, `bad_column` (if the row is faulty) and `got` (its text, cut). */
	readonly staged: readonly string[];
}

/** A source of CDM tables: a folder of files, or a database. */
export interface TableSource {
	has(table: CdmTable): boolean;
	/**
	 * Adds the rows of a table to its staged table. `wanted`, for a database, is a condition on the rows to send, where
	 * `column` gives the SQL of a CDM column.
	 */
	stage(
		store: Store,
		table: CdmTable,
		wanted?: (column: (name: string) => string) => string,
	): Promise<void>;
	/** The locations of rows of a staged table, for messages. */
	places(table: CdmTable): FaultPlaces;
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

export const stagedName = ({ name }: CdmTable): string => `omop_${name}`;

/** Creates an empty staged table. */
export function createStaged(store: Store, table: CdmTable): Promise<void> {
	const texts = Object.keys(table.columns).map((name) => `CAST(NULL AS VARCHAR) AS ${name}`);
	const from = `(SELECT 0::BIGINT AS row, ${texts.join(", ")})`;
	return store.run(`CREATE TEMP TABLE ${stagedName(table)} AS ${stagedRows(table, from)} LIMIT 0`);
}

/** Adds rows to a staged table. The columns of `from` have our names and are VARCHAR; absent ones are NULL. */
export const addStaged = (store: Store, table: CdmTable, from: string): Promise<void> =>
	store.run(`INSERT INTO ${stagedName(table)} ${stagedRows(table, from)}`);

function stagedRows(table: CdmTable, from: string): string {
	const { only = "true", values, derived = {}, faults, keep = "true", staged } = table;
	const listed = (columns: Sql) =>
		Object.entries(columns)
			.map(([name, sql]) => `, ${sql} AS ${name}`)
			.join("");
	const raw = Object.fromEntries(Object.keys(table.columns).map((name) => [`raw_${name}`, name]));
	const checks = Object.entries(faults).map(([name, fault]) => `WHEN ${fault} THEN '${name}'`);
	const texts = Object.keys(faults).map((name) => `WHEN '${name}' THEN raw_${name}`);
	return `
	SELECT row, ${staged.join(", ")}, bad_column, left(CASE bad_column ${texts.join(" ")} END, 40) AS got
	FROM (SELECT *, CASE ${checks.join(" ")} END AS bad_column
		FROM (SELECT *${listed(derived)}
			FROM (SELECT row${listed(values)}${listed(raw)} FROM ${from} WHERE ${only})))
	WHERE bad_column IS NOT NULL OR (${keep})`;
}

const filled = (text: string): string => `nullif(trim(${text}), '')`;

/** Whole numbers, also written as 8507.0, as some tools do in columns with empty fields. */
const asInteger = (text: string): string =>
	`CASE WHEN contains(${text}, '.') AND NOT regexp_full_match(trim(${text}), '[0-9]+\\.0*')
		THEN NULL ELSE try_cast(${text} AS BIGINT) END`;

/** SQL condition: a column has a text, but no value. */
const isUnread = (name: string): string =>
	`${name} IS NULL AND ${filled(`raw_${name}`)} IS NOT NULL`;

const isUnreadTime = (name: string): string => `${isUnread(name)} OR ${isFarOff(name)}`;
const isNoTime = (days: string): string => `${days} IS NULL OR ${isFarOff(days)}`;

const patient = {
	patient: `CASE WHEN ends_with(patient, '.0') THEN left(${filled("patient")}, -2) ELSE ${filled("patient")} END`,
};
const patientFault = { patient: "patient IS NULL" };

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
	values: {
		...patient,
		datetime: daysFromText("datetime"),
		gender: asInteger("gender"),
		year: asInteger("year"),
		month: asInteger("month"),
		day: asInteger("day"),
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
};

/** A time that may be in two columns: the precise one counts, and the other is read only without it. */
const dateOrTime = {
	values: { ...patient, datetime: daysFromText("datetime") },
	derived: { time: `coalesce(datetime, ${daysFromText("raw_date")})` },
	faults: { ...patientFault, datetime: isUnreadTime("datetime"), date: isNoTime("time") },
	staged: ["patient", "time"],
};

export const death: CdmTable = {
	name: "death",
	columns: { patient: "person_id", date: "death_date", datetime: "death_datetime" },
	required: ["patient", "date"],
	...dateOrTime,
};

export const observationPeriod: CdmTable = {
	name: "observation_period",
	columns: {
		patient: "person_id",
		start_date: "observation_period_start_date",
		end_date: "observation_period_end_date",
	},
	required: ["patient", "start_date", "end_date"],
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
	values: {
		...dateOrTime.values,
		concept: asInteger("concept"),
		source_concept: asInteger("source_concept"),
		source_value: filled("source_value"),
	},
	derived: dateOrTime.derived,
	faults: {
		...dateOrTime.faults,
		concept: isUnread("concept"),
		source_concept: isUnread("source_concept"),
	},
	staged: [...dateOrTime.staged, "concept", "source_concept", "source_value"],
});

export const conditionOccurrence = events("condition_occurrence", "condition", "condition_start");
export const conditionEra = events("condition_era", "condition", "condition_era_start");
export const drugExposure = events("drug_exposure", "drug", "drug_exposure_start");
export const drugEra = events("drug_era", "drug", "drug_era_start");
export const observation = events("observation", "observation", "observation");

/** With value, unit (a concept) and unit_text; values that are not numbers are left out. */
const measurements = events("measurement", "measurement", "measurement");
export const measurement: CdmTable = {
	...measurements,
	columns: {
		...measurements.columns,
		value: "value_as_number",
		unit: "unit_concept_id",
		unit_text: "unit_source_value",
	},
	values: {
		...measurements.values,
		value: `try_cast(${filled("value")} AS DOUBLE)`,
		unit: `nullif(${asInteger("unit")}, 0)`,
		unit_text: filled("unit_text"),
	},
	staged: [...measurements.staged, "value", "unit", "unit_text"],
};

/** OMOP vocabularies of diagnoses, with our name of the system. */
const icdVocabularies: ReadonlyMap<string, string> = new Map([
	["ICD10CM", "ICD10CM"],
	["ICD9CM", "ICD9CM"],
	["ICD10", systemNamed("icd10") ?? "ICD10CM"],
]);

export const icdVocabularyList = [...icdVocabularies.keys()].map(quoted).join(", ");

const systemOf = (vocabulary: string): string => {
	const cases = [...icdVocabularies].map(
		([name, system]) => `WHEN ${quoted(name)} THEN ${quoted(system)}`,
	);
	const others = knownSystems.filter((name) => name !== "OMOP" && !icdVocabularies.has(name));
	return `CASE ${vocabulary} ${cases.join(" ")} ELSE
		CASE WHEN ${vocabulary} IN (${others.map(quoted).join(", ")}) THEN ${vocabulary} END END`;
};

/** The concepts in `omop_used` and all of ICD, with `system` (NULL if unknown), `icd` and `current`. */
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
	values: {
		concept: asInteger("concept"),
		vocabulary: filled("vocabulary"),
		code: filled("code"),
		name: filled("name"),
		invalid: filled("invalid"),
	},
	faults: { concept: "concept IS NULL" },
	keep: `vocabulary IN (${icdVocabularyList}) OR concept IN (SELECT concept FROM omop_used)`,
	staged: [
		"concept",
		`${systemOf("vocabulary")} AS system`,
		"code",
		"name",
		`coalesce(vocabulary IN (${icdVocabularyList}), false) AS icd`,
		"invalid IS NULL AS current",
	],
};

export const relations = ["Mapped from", "Maps to"] as const;

/** The concepts `standard` (one in use) and `source` (of ICD) of a relation, whichever comes first. */
export const conceptRelationship: CdmTable = {
	name: "concept_relationship",
	columns: {
		first: "concept_id_1",
		second: "concept_id_2",
		relation: "relationship_id",
		invalid: "invalid_reason",
	},
	required: ["first", "second", "relation"],
	only: `trim(relation) IN (${relations.map(quoted).join(", ")}) AND ${filled("invalid")} IS NULL`,
	values: { first: asInteger("first"), second: asInteger("second") },
	derived: {
		standard: `CASE WHEN trim(raw_relation) = ${quoted(relations[1])} THEN second ELSE first END`,
		source: `CASE WHEN trim(raw_relation) = ${quoted(relations[1])} THEN first ELSE second END`,
	},
	faults: { first: "first IS NULL", second: "second IS NULL" },
	keep: `standard IN (SELECT concept FROM omop_used)
		AND source IN (SELECT concept FROM omop_concept WHERE icd)`,
	staged: ["standard", "source"],
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

const conceptColumns =
	"condition_concept_id concept_id standard_concept_id omop_concept_id target_concept_id".split(
		" ",
	);
const expected = "columns such as concept_id,icd9 or concept_id,icd10";

/** Reads a table of concepts and their ICD codes into `omop_map(concept, system, code)`. */
export async function stageConceptMap(
	store: Store,
	file: string,
	sourceSystem: string | undefined,
): Promise<void> {
	const table = await openDelimited(file);
	const concept = columnOf(table, conceptColumns);
	if (!concept) throw noColumn(table, "of concepts", expected);
	const { code, system } = codesIn(table, sourceSystem);
	const columns = {
		concept: `try_cast(${concept.sql} AS BIGINT)`,
		code: `nullif(trim(${code.sql}), '')`,
		got: `left(${concept.sql}, 40)`,
	};
	await stageRows(store, table, "omop_map_row", columns, {
		reads: [concept, code],
		faults: [
			{
				when: "concept IS NULL",
				say: ({ got }) =>
					`: ${concept.name} is ${got === null ? "empty" : JSON.stringify(got)}; expected the number of an OMOP concept`,
			},
			{
				when: "code <> (SELECT arg_min(code, row) FROM omop_map_row AS before WHERE before.concept = omop_map_row.concept)",
				say: (row) =>
					` gives concept ${row.concept} another code than a line before it; keep one code per concept`,
			},
		],
	});
	await store.run(`INSERT INTO omop_map SELECT concept, ${quoted(system)}, any_value(code)
		FROM omop_map_row WHERE code IS NOT NULL GROUP BY concept`);
	await store.run("DROP TABLE omop_map_row");
}

/** The column of ICD codes, and the system that it holds. */
function codesIn(table: Table, sourceSystem: string | undefined) {
	const { file } = table;
	const codes = table.columns.flatMap((column) => {
		const [, version] = /^icd[-_ ]?(9|10)?(?!\d)/i.exec(column.name) ?? [null, null];
		if (version === null) return [];
		return [{ code: column, system: version && (version === "9" ? "ICD9CM" : "ICD10CM") }];
	});
	const fitting = codes.filter(({ system }) => !system || !sourceSystem || system === sourceSystem);
	const [chosen, other] = fitting;
	if (!chosen)
		throw noColumn(
			table,
			codes.length === 0
				? "of ICD codes"
				: `of ${sourceSystem} codes, which \`sourceSystem\` asks for`,
			expected,
		);
	if (other)
		throw new InputError(
			`${file} has codes in ${chosen.code.name} and ${other.code.name}; ${
				chosen.system === other.system
					? "keep one of these columns"
					: "say which to take with `sourceSystem` icd9 or icd10"
			}`,
		);
	const system = chosen.system || sourceSystem;
	if (!system)
		throw new InputError(
			`${file}: the column ${chosen.code.name} does not say which ICD it holds; pass \`sourceSystem\` icd9 or icd10`,
		);
	return { code: chosen.code, system };
}
