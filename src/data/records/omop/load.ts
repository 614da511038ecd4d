import { InputError } from "../../../base/errors.js";
import { type BadRows, counted, notesFor } from "../bad-rows.js";
import { expectedYears } from "../dates.js";
import type { Loaded, RecordKind } from "../rows.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import { type Fault, reportFaults } from "../table.js";
import {
	type CdmTable,
	concept,
	conceptRelationship,
	createStaged,
	death,
	icdVocabularyList,
	observation,
	observationPeriod,
	person,
	relations,
	stageConceptMap,
	stagedName,
	type TableSource,
} from "./tables.js";

/**
 * Creates `omop_known` (concepts with a code of their own) and `omop_icd`: the ICD code of every condition concept
 * that has one. The first rule that applies counts: the concept belongs to ICD; ICD codes are mapped to it (of
 * several the valid one, of the requested system, the shortest, the first in order); the concept map has it.
 * `choices` counts the candidates.
 */
async function resolveConcepts(store: Store, preferred: string | undefined): Promise<void> {
	await store.run(`CREATE TEMP TABLE omop_known AS
		SELECT concept, arg_min(system, row) AS system, arg_min(code, row) AS code, bool_or(icd) AS icd
		FROM omop_concept WHERE system IS NOT NULL AND code IS NOT NULL AND concept <> 0
		GROUP BY concept`);
	await store.run(`CREATE TEMP TABLE omop_related AS
		SELECT concept, system, code, count(*) OVER (PARTITION BY concept, system) AS choices
		FROM (SELECT DISTINCT r.standard AS concept, c.system, c.code, c.current
			FROM omop_concept_relationship r JOIN omop_concept c ON c.concept = r.source AND c.icd
			WHERE c.code IS NOT NULL AND r.standard <> 0)
		QUALIFY row_number() OVER (PARTITION BY concept ORDER BY current DESC,
			system = ${quoted(preferred ?? "ICD10CM")} DESC, length(code), code, system) = 1`);
	await store.run(`CREATE TEMP TABLE omop_icd AS
		SELECT concept, arg_min(system, way) AS system, arg_min(code, way) AS code,
			arg_min(choices, way) AS choices
		FROM (SELECT concept, system, code, 1 AS choices, 1 AS way FROM omop_known WHERE icd
			UNION ALL SELECT concept, system, code, choices, 2 FROM omop_related
			UNION ALL SELECT concept, system, code, 1, 3 FROM omop_map WHERE concept <> 0)
		GROUP BY concept`);
}

interface Resolved {
	/** SQL for the system and code of the row; NULL if there is none. */
	readonly system: string;
	readonly code: string;
}

const omop: Resolved = {
	system: "CASE WHEN e.concept <> 0 OR e.source_concept <> 0 THEN 'OMOP' END",
	code: "CAST(coalesce(nullif(e.concept, 0), nullif(e.source_concept, 0)) AS VARCHAR)",
};

const first = (ways: readonly Resolved[]): Resolved => ({
	system: `coalesce(${ways.map((way) => way.system).join(", ")})`,
	code: `coalesce(${ways.map((way) => way.code).join(", ")})`,
});

const of = (alias: string): Resolved => ({ system: `${alias}.system`, code: `${alias}.code` });

/** The code of a row of a staged table `e`, and the joins it needs. */
interface Resolution extends Resolved {
	readonly joins: string;
	/** Whether the code comes from the source and not from the concept; NULL counts as false. */
	readonly bySource: string;
}

const joins = (source: string, concept: string): string =>
	`LEFT JOIN ${source} s ON s.concept = e.source_concept LEFT JOIN ${concept} c ON c.concept = e.concept`;

export function conditionCodes(sourceSystem: string | undefined): Resolution {
	const value: Resolved[] = sourceSystem
		? [
				{
					system: `CASE WHEN e.source_value IS NOT NULL THEN ${quoted(sourceSystem)} END`,
					code: "e.source_value",
				},
			]
		: [];
	return {
		...first([of("s"), ...value, of("c"), omop]),
		joins: joins("(SELECT * FROM omop_known WHERE icd)", "omop_icd"),
		bySource: `s.concept IS NOT NULL OR ${sourceSystem ? "e.source_value IS NOT NULL" : "false"}`,
	};
}

/** Of drugs and measurements: the code of the standard concept, else of the source concept. */
export const standardCodes: Resolution = {
	system: `CASE WHEN e.concept <> 0 THEN coalesce(c.system, 'OMOP') ELSE coalesce(s.system, ${omop.system}) END`,
	code: `CASE WHEN e.concept <> 0 THEN coalesce(c.code, ${omop.code}) ELSE coalesce(s.code, ${omop.code}) END`,
	joins: joins("omop_known", "omop_known"),
	bySource: "false",
};

/**
 * Without a vocabulary, a source value of an observation counts as ICD only if no procedure code (CPT, HCPCS) has
 * this form, because these are in the same column.
 */
const shapes: Readonly<Record<string, string>> = {
	ICD9CM: "(V[0-9]{2}(\\.?[0-9]{1,2})?|E[89][0-9]{2}(\\.?[0-9])?|[0-9]{3}\\.[0-9]{1,2})",
	ICD10CM: "([W-Z][0-9][0-9A-Z](\\.?[0-9A-Z]{1,4})?|[A-Z][0-9][0-9A-Z]\\.[0-9A-Z]{1,4})",
};

/** Diagnoses among the observations, recognised by their source only. */
export function observationCodes(sourceSystem: string | undefined): Resolution {
	const shape = sourceSystem ? shapes[sourceSystem] : undefined;
	const fits = `k.concept IS NULL AND regexp_full_match(e.source_value, ${quoted(shape ?? "")})`;
	const ways = [of("s")];
	if (sourceSystem && shape)
		ways.push({
			system: `CASE WHEN ${fits} THEN ${quoted(sourceSystem)} END`,
			code: `CASE WHEN ${fits} THEN e.source_value END`,
		});
	return {
		...first(ways.length > 1 ? ways : [...ways, { system: "NULL", code: "NULL" }]),
		joins: `LEFT JOIN (SELECT * FROM omop_known WHERE icd) s ON s.concept = e.source_concept
			LEFT JOIN (SELECT DISTINCT concept FROM omop_concept WHERE concept <> 0) k ON k.concept = e.source_concept`,
		bySource: "true",
	};
}

/**
 * A source code that is mapped to two concepts has two rows with the same meaning: removes the rows of all concepts
 * but the first, and counts them. Few codes have several concepts, so few rows are sorted.
 */
async function mergeConcepts(
	store: Store,
	staged: string,
	{ system, code, joins, bySource }: Resolution,
): Promise<number> {
	if (bySource === "false") return 0;
	const coded = `(SELECT e.row, e.patient, e.time, coalesce(e.concept, 0) AS concept,
			${system} AS system, ${code} AS code
		FROM ${staged} e ${joins} WHERE ${bySource})`;
	await store.run(`CREATE TEMP TABLE omop_several AS SELECT system, code FROM ${coded}
		WHERE system IS NOT NULL GROUP BY system, code HAVING min(concept) <> max(concept)`);
	await store.run(`CREATE TEMP TABLE omop_again AS SELECT row
		FROM (SELECT row, concept, first_value(concept) OVER (
				PARTITION BY patient, time, system, code ORDER BY row) AS kept
			FROM ${coded} SEMI JOIN omop_several USING (system, code))
		WHERE concept <> kept`);
	const again = await store.count("omop_again");
	if (again > 0) await store.run(`DELETE FROM ${staged} WHERE row IN (SELECT row FROM omop_again)`);
	await store.run("DROP TABLE omop_several");
	await store.run("DROP TABLE omop_again");
	return again;
}

/** The tables to read and how to interpret their codes. */
export interface Plan {
	/** The table of diagnoses first. */
	readonly events: readonly Events[];
	/** The system of source values, as named in systems.ts. */
	readonly sourceSystem: string | undefined;
	readonly conceptMap: string | undefined;
}

/** A table whose rows are records of a kind. */
export interface Events {
	readonly table: CdmTable;
	readonly kind: RecordKind;
	readonly codes: Resolution;
}

const dateHint = `expected a date such as 2020-01-31, 20200131 or 2020-01-31 14:05:00; ${expectedYears}`;
const numberHint = "expected a whole number";
const hints: Readonly<Record<string, string>> = {
	patient: "every row needs the number of a person",
	date: dateHint,
	datetime: dateHint,
	start_date: dateHint,
	end_date: dateHint,
	year: expectedYears,
	day: "expected a day of that month, or nothing",
	month: "expected a month from 1 to 12, or nothing",
};

/** Copies all tables into the store, so that a database connection can be closed early. */
export async function stageTables(
	store: Store,
	source: TableSource,
	{ events }: Plan,
	bad?: BadRows,
): Promise<void> {
	const stage = async (
		table: CdmTable,
		bad?: BadRows,
		wanted?: Parameters<TableSource["stage"]>[2],
	) => {
		await createStaged(store, table);
		if (!source.has(table)) return;
		await source.stage(store, table, wanted);
		await checkRows(store, source, table, bad);
	};
	const tables = events.map(({ table }) => table);
	for (const table of [person, death, observationPeriod, ...tables]) await stage(table, bad);
	const concepts = tables.flatMap((table) =>
		["concept", "source_concept", "unit"]
			.filter((column) => column in table.columns)
			.map((column) => `SELECT ${column} AS concept FROM ${stagedName(table)}`),
	);
	await store.run(`CREATE TEMP TABLE omop_used AS SELECT concept FROM (${concepts.join(" UNION ")})
		WHERE concept IS NOT NULL AND concept <> 0 ORDER BY concept`);
	const used = await store.all<{ concept: number }>("SELECT concept FROM omop_used");
	const list = `('{${used.map((row) => row.concept).join(",")}}'::bigint[])`;
	await stage(
		concept,
		undefined,
		(column) =>
			`${column("vocabulary_id")} IN (${icdVocabularyList}) OR ${column("concept_id")} = ANY ${list}`,
	);
	const [from, to] = relations.map(quoted);
	await stage(
		conceptRelationship,
		undefined,
		(column) =>
			`(${column("relationship_id")} = ${from} AND ${column("concept_id_1")} = ANY ${list})
			OR (${column("relationship_id")} = ${to} AND ${column("concept_id_2")} = ANY ${list})`,
	);
}

/** SQL for the value and unit of a row `e`: the unit by its code in UCUM, as the source writes it, or by its concept. */
const valueAndUnit = (table: CdmTable): string =>
	"value" in table.columns
		? `e.value, CASE WHEN e.value IS NOT NULL THEN coalesce(
			(SELECT arg_min(u.code, u.row) FROM omop_concept u WHERE u.concept = e.unit),
			CASE WHEN e.unit IS NULL THEN e.unit_text END, CAST(e.unit AS VARCHAR)) END AS unit`
		: "NULL AS value, NULL AS unit";

/** Leaves out rows that cannot be read or, without `bad`, refuses the first. */
async function checkRows(store: Store, source: TableSource, table: CdmTable, bad?: BadRows) {
	const faults = Object.keys(table.faults).map(
		(name): Fault => ({
			when: `bad_column = ${quoted(name)}`,
			say: ({ got }) =>
				`: ${table.columns[name]} is ${String(got ?? "").trim() ? JSON.stringify(got) : "empty"}; ${hints[name] ?? numberHint}`,
		}),
	);
	const staged = stagedName(table);
	const count = await reportFaults(store, staged, faults, source.places(table), bad);
	if (count > 0) await store.run(`DELETE FROM ${staged} WHERE bad_column IS NOT NULL`);
}

/** Turns the staged tables into people, records and names. */
export async function loadStagedTables(
	store: Store,
	source: TableSource,
	plan: Plan,
): Promise<Loaded> {
	const refuseEmpty = async (table: CdmTable, rows: string) => {
		if ((await store.count(stagedName(table))) === 0)
			throw new InputError(`${source.nameOf(table)} contains ${rows}`);
	};
	await refuseEmpty(person, "no people; expected one row per person");
	const [conditions] = plan.events;
	if (conditions) await refuseEmpty(conditions.table, "no rows; expected one row per diagnosis");
	await store.run("CREATE TEMP TABLE omop_map (concept BIGINT, system VARCHAR, code VARCHAR)");
	if (plan.conceptMap) await stageConceptMap(store, plan.conceptMap, plan.sourceSystem);
	await resolveConcepts(store, plan.sourceSystem);
	await store.run(`INSERT INTO person SELECT patient, birth, sex, NULL, NULL,
		${source.placeSql(person)} FROM omop_person ORDER BY row`);
	await store.run(`INSERT INTO person SELECT patient, NULL, NULL, time, NULL,
		${source.placeSql(death)} FROM omop_death ORDER BY row`);
	const eventNotes: string[] = [];
	for (const events of plan.events) {
		const { table, kind, codes } = events;
		const repeated = await mergeConcepts(store, stagedName(table), codes);
		const records = await store.addRecords(`
			SELECT e.row, e.patient, e.time, ${codes.code} AS code, ${codes.system} AS system,
				${quoted(kind)} AS kind, ${valueAndUnit(table)}
			FROM ${stagedName(table)} e ${codes.joins}
			WHERE ${codes.system} IS NOT NULL`);
		eventNotes.push(...(await notesOnEvents(store, source, plan, events, records, repeated)));
	}
	await store.run(`INSERT INTO code_name
		SELECT system, code, arg_min(name, {'concept': concept, 'row': row}), NULL, NULL
		FROM (SELECT system, code, name, concept, row FROM omop_concept WHERE system IS NOT NULL
			UNION ALL SELECT 'OMOP', CAST(concept AS VARCHAR), name, concept, row FROM omop_concept)
		WHERE name IS NOT NULL AND (system, code) IN (SELECT DISTINCT (system, code) FROM record)
		GROUP BY system, code ORDER BY system, code`);
	await store.run(`INSERT INTO observation SELECT patient, first, last FROM omop_observation_period
		WHERE floor(first) <= floor(last) ORDER BY row`);
	const periods = await store.count("observation");
	const notes = [
		...source.notes,
		...(await notesOnPeople(store)),
		...(await notesOnPeriods(store, source, periods)),
		...eventNotes,
		...(await notesOnStrangers(store, source, plan)),
	];
	for (const { table_name } of await store.all<{ table_name: string }>(
		"SELECT table_name FROM duckdb_tables() WHERE temporary AND starts_with(table_name, 'omop_')",
	))
		await store.run(`DROP TABLE ${table_name}`);
	return { axis: "dates", notes, observation: periods > 0 ? "observation_period" : undefined };
}

async function notesOnPeople(store: Store): Promise<string[]> {
	const [row] = await store.all<{ months: number; days: number; births: number; sexes: number }>(
		`SELECT count(*) FILTER (guessed = 'month') AS months, count(*) FILTER (guessed = 'day') AS days,
			count(*) FILTER (birth IS NULL) AS births, count(*) FILTER (sex IS NULL) AS sexes
		FROM omop_person`,
	);
	const { months = 0, days = 0, births = 0, sexes = 0 } = row ?? {};
	return notesFor([
		[months, `${months} people have a year of birth alone: 1 July was taken`],
		[days, `${days} people have a year and month of birth alone: the 1st was taken`],
		[births, `${births} people have no date of birth`],
		[sexes, `${sexes} people have a gender other than 8507 or 8532: not known`],
	]);
}

async function notesOnPeriods(store: Store, source: TableSource, kept: number): Promise<string[]> {
	if (!source.has(observationPeriod)) return [];
	const rows = await store.count("omop_observation_period");
	if (rows === 0) return [`${source.nameOf(observationPeriod)} contains no rows`];
	const reversed = counted(rows - kept, "row ends", "rows end");
	return notesFor([
		[rows - kept, `${observationPeriod.name}: ${reversed} before the start: left out`],
	]);
}

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

/** Notes on the records of a table under a condition, and on the rows that `repeated` another and were left out. */
async function notesOnEvents(
	store: Store,
	source: TableSource,
	{ events, sourceSystem }: Plan,
	{ table, kind, codes }: Events,
	records: string,
	repeated: number,
): Promise<string[]> {
	const rows = await store.count(stagedName(table));
	if (rows === 0) return [`${source.nameOf(table)} contains no rows`];
	const from = `${stagedName(table)} e ${codes.joins}`;
	const systems = await store.all<{ system: string; count: number }>(
		`SELECT system, count(*) AS count FROM stored_record WHERE ${records}
		GROUP BY system ORDER BY count DESC, system`,
	);
	const parts = systems.map(({ system, count }) => `${share(count, rows)} ${system}`);
	const notes = [`${table.name}: ${rows} rows${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`];
	if (repeated > 0)
		notes.push(
			`${table.name}: ${repeated} more rows repeat the source code of another, of the same person and time, under a second concept: one record each time`,
		);
	const left = rows - systems.reduce((sum, { count }) => sum + count, 0);
	if (left > 0 && table === observation)
		notes.push(`observation: ${left} rows left out, for their source is no ICD code`);
	else if (left > 0) {
		const values = await store.count(
			`${from} WHERE ${codes.system} IS NULL AND e.source_value IS NOT NULL`,
		);
		const hint =
			values > 0 && kind === "diagnosis"
				? `; ${values} of them have a source value: pass --source-system to use it`
				: "";
		notes.push(`${table.name}: ${left} rows left out: concept 0 and no source code${hint}`);
	}
	if (table !== events[0]?.table) return notes;
	const [chosen] = await store.all<{ rows: number; concepts: number }>(
		`SELECT count(*) AS rows, count(DISTINCT e.concept) AS concepts FROM ${from}
		WHERE c.choices > 1 AND s.concept IS NULL AND ${sourceSystem ? "e.source_value IS NULL" : "true"}`,
	);
	const { rows: choices = 0, concepts = 0 } = chosen ?? {};
	if (choices > 0)
		notes.push(
			`${table.name}: ${choices} rows of ${concepts} concepts could be several ICD codes; the shortest was taken, then the first in order`,
		);
	return notes;
}

async function notesOnStrangers(store: Store, source: TableSource, { events }: Plan) {
	const all = events.map(({ table }) => `SELECT patient FROM ${stagedName(table)}`).join(" UNION ");
	const strangers = await store.count(
		`(${all}) WHERE patient NOT IN (SELECT patient FROM omop_person)`,
	);
	const text = `${strangers} patients are not in ${source.nameOf(person)}: birth and sex are not known`;
	return notesFor([[strangers, text]]);
}
