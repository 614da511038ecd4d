import { InputError } from "../../../base/errors.js";
import { type BadRows, counted, notesFor, reportBad } from "../bad-rows.js";
import { expectedYears } from "../dates.js";
import type { Loaded, RecordKind } from "../rows.js";
import { quoted } from "../sql.js";
import type { Store } from "../store.js";
import {
	conditionCodes,
	emptyTables,
	mergeConcepts,
	observationCodes,
	type Resolution,
	resolveConcepts,
	stageConceptMap,
	standardCodes,
} from "./codes.js";
import {
	type CdmTable,
	concept,
	conceptRelationship,
	conceptsFrom,
	death,
	deathsFrom,
	eventsFrom,
	icdVocabularyList,
	measurement,
	measurementsFrom,
	observation,
	observationPeriod,
	peopleFrom,
	periodsFrom,
	person,
	relations,
	relationsFrom,
	type TableSource,
} from "./tables.js";

/** The tables to read and how to interpret their codes. */
export interface Plan {
	readonly condition: CdmTable;
	readonly drug: CdmTable | undefined;
	readonly observations: boolean;
	readonly measurements: boolean;
	/** The system of source values, as named in systems.ts. */
	readonly sourceSystem: string | undefined;
	readonly conceptMap: string | undefined;
}

interface Events {
	readonly table: CdmTable;
	readonly staged: string;
	readonly kind: RecordKind;
	readonly codes: Resolution;
	readonly select: (from: string) => string;
	/** SQL for the number of a row `e`, and for its unit. */
	readonly measured: string;
	rows: number;
	/** Rows that repeat another row under another concept. */
	mergedRows: number;
	/** SQL condition for its records, and their number. */
	records: string;
	recordCount: number;
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
	plan: Plan,
	bad?: BadRows,
): Promise<void> {
	const stage = async (table: CdmTable, into: string, select: (from: string) => string) => {
		await source.stage(store, { table, into, select });
		await checkRows(store, source, table, into, bad);
	};
	await stage(person, "omop_person", peopleFrom);
	if (source.has(death)) await stage(death, "omop_death", deathsFrom);
	if (source.has(observationPeriod)) await stage(observationPeriod, "omop_period", periodsFrom);
	const events = eventsOf(plan);
	for (const { table, staged, select } of events) await stage(table, staged, select);
	await store.run(emptyTables.map);
	await createUsed(store, events);
	await stageVocabulary(store, source);
}

/** The unit by its code in UCUM, as the source writes it, or by its concept. */
const measuredSql = `e.value, CASE WHEN e.value IS NOT NULL THEN coalesce(
	(SELECT arg_min(u.code, u.row) FROM omop_concept u WHERE u.concept = e.unit),
	CASE WHEN e.unit IS NULL THEN e.unit_text END, CAST(e.unit AS VARCHAR)) END AS unit`;

const eventsOf = (plan: Plan): Events[] => {
	const { condition, drug, observations, sourceSystem } = plan;
	const events = (table: CdmTable, kind: RecordKind, codes: Resolution): Events => ({
		table,
		staged: `omop_${table.name}`,
		kind,
		codes,
		select: eventsFrom,
		measured: "NULL AS value, NULL AS unit",
		rows: 0,
		mergedRows: 0,
		records: "false",
		recordCount: 0,
	});
	return [
		events(condition, "diagnosis", conditionCodes(sourceSystem)),
		...(observations ? [events(observation, "diagnosis", observationCodes(sourceSystem))] : []),
		...(drug ? [events(drug, "drug", standardCodes)] : []),
		...(plan.measurements
			? [
					{
						...events(measurement, "laboratory", standardCodes),
						select: (from: string) => measurementsFrom(from),
						measured: measuredSql,
					},
				]
			: []),
	];
};

async function createUsed(store: Store, events: readonly Events[]): Promise<void> {
	const all = events.flatMap(({ staged, measured }) => [
		`SELECT concept FROM ${staged}`,
		`SELECT source_concept FROM ${staged}`,
		...(measured === measuredSql ? [`SELECT unit FROM ${staged}`] : []),
	]);
	await store.run(`CREATE TEMP TABLE omop_used AS SELECT concept FROM (${all.join(" UNION ")})
		WHERE concept IS NOT NULL AND concept <> 0 ORDER BY concept`);
}

async function stageVocabulary(store: Store, source: TableSource): Promise<void> {
	if (!source.has(concept)) {
		await store.run(emptyTables.concepts);
		return store.run(emptyTables.relations);
	}
	const used = (await store.all<{ concept: number }>("SELECT concept FROM omop_used")).map(
		(row) => row.concept,
	);
	const list = `('{${used.join(",")}}'::bigint[])`;
	await source.stage(store, {
		table: concept,
		into: "omop_concept",
		select: conceptsFrom,
		only: (column) =>
			`${column("vocabulary_id")} IN (${icdVocabularyList}) OR ${column("concept_id")} = ANY ${list}`,
	});
	await checkRows(store, source, concept, "omop_concept");
	if (!source.has(conceptRelationship)) return store.run(emptyTables.relations);
	const [from, to] = relations.map(quoted);
	await source.stage(store, {
		table: conceptRelationship,
		into: "omop_relation",
		select: relationsFrom,
		only: (column) =>
			`(${column("relationship_id")} = ${from} AND ${column("concept_id_1")} = ANY ${list})
			OR (${column("relationship_id")} = ${to} AND ${column("concept_id_2")} = ANY ${list})`,
	});
	await checkRows(store, source, conceptRelationship, "omop_relation");
}

/** Leaves out rows that cannot be read or, without `bad`, refuses the first. */
async function checkRows(
	store: Store,
	source: TableSource,
	table: CdmTable,
	staged: string,
	bad?: BadRows,
): Promise<void> {
	const faulty = `${staged} WHERE fault IS NOT NULL`;
	const count = await store.count(faulty);
	await reportBad(bad, count, async (most) => {
		const patient = "patient" in table.columns ? "patient" : "NULL AS patient";
		const rows = await store.all<{
			row: number;
			fault: string;
			got: string | null;
			patient: string | null;
		}>(
			`SELECT row, fault, left(got, 40) AS got, ${patient} FROM ${faulty} ORDER BY row LIMIT ${most}`,
		);
		const explained: string[] = [];
		for (const { row, fault, patient, ...text } of rows) {
			const place = await source.placeOf(table, row, patient);
			const got = text.got?.trim() ? JSON.stringify(text.got) : "empty";
			explained.push(`${place}: ${table.columns[fault]} is ${got}; ${hints[fault] ?? numberHint}`);
		}
		return explained;
	});
	if (count > 0) await store.run(`DELETE FROM ${faulty}`);
}

/** Turns the staged tables into people, records and names. */
export async function loadStagedTables(
	store: Store,
	source: TableSource,
	plan: Plan,
): Promise<Loaded> {
	const notes = [...source.notes];
	const events = eventsOf(plan);
	const [condition] = events;
	const people = await store.count("omop_person");
	if (people === 0)
		throw new InputError(
			`${source.nameOf(person)} contains no people; expected one row per person`,
		);
	if (condition && (await store.count(condition.staged)) === 0)
		throw new InputError(
			`${source.nameOf(condition.table)} contains no rows; expected one row per diagnosis`,
		);
	if (plan.conceptMap) await stageConceptMap(store, plan.conceptMap, plan.sourceSystem);
	await resolveConcepts(store, plan.sourceSystem);
	await loadPeople(store, source);
	for (const table of events) {
		table.mergedRows = await mergeConcepts(store, table.staged, table.codes);
		table.rows = await store.count(table.staged);
		table.records = await store.addRecords(`
			SELECT e.row, e.patient, e.time, ${table.codes.code} AS code, ${table.codes.system} AS system,
				${quoted(table.kind)} AS kind, ${table.measured}
			FROM ${table.staged} e ${table.codes.joins}
			WHERE ${table.codes.system} IS NOT NULL`);
		table.recordCount = await store.count(`stored_record WHERE ${table.records}`);
	}
	await loadNames(store);
	const periods = await loadPeriods(store, source);
	notes.push(...(await peopleNotes(store)), ...periods.notes);
	for (const table of events) notes.push(...(await eventNotes(store, source, plan, table)));
	notes.push(...(await orphanNotes(store, source, events)));
	for (const { table_name } of await store.all<{ table_name: string }>(
		"SELECT table_name FROM duckdb_tables() WHERE temporary AND starts_with(table_name, 'omop_')",
	))
		await store.run(`DROP TABLE ${table_name}`);
	return {
		axis: "dates",
		notes,
		observation: periods.count > 0 ? "observation_period" : undefined,
	};
}

async function loadPeople(store: Store, source: TableSource): Promise<void> {
	await store.run(`INSERT INTO person SELECT patient, birth, sex, NULL, NULL,
		${source.placeSql(person)} FROM omop_person ORDER BY row`);
	if (!source.has(death)) return;
	await store.run(`INSERT INTO person SELECT patient, NULL, NULL, time, NULL,
		${source.placeSql(death)} FROM omop_death ORDER BY row`);
}

async function loadPeriods(
	store: Store,
	source: TableSource,
): Promise<{ readonly count: number; readonly notes: readonly string[] }> {
	if (!source.has(observationPeriod)) return { count: 0, notes: [] };
	await store.run(`INSERT INTO observation SELECT patient, first, last FROM omop_period
		WHERE floor(first) <= floor(last) ORDER BY row`);
	const count = await store.count("observation");
	const reversed = (await store.count("omop_period")) - count;
	const { name } = observationPeriod;
	return {
		count,
		notes: [
			...notesFor([
				[
					reversed,
					`${name}: ${counted(reversed, "row ends", "rows end")} before the start: left out`,
				],
			]),
			...(count + reversed === 0 ? [`${source.nameOf(observationPeriod)} contains no rows`] : []),
		],
	};
}

async function loadNames(store: Store): Promise<void> {
	await store.run(`INSERT INTO code_name
		SELECT system, code, arg_min(name, {'concept': concept, 'row': row}), NULL, NULL
		FROM (SELECT system, code, name, concept, row FROM omop_concept WHERE system IS NOT NULL
			UNION ALL SELECT 'OMOP', CAST(concept AS VARCHAR), name, concept, row FROM omop_concept)
		WHERE name IS NOT NULL AND (system, code) IN (SELECT DISTINCT (system, code) FROM record)
		GROUP BY system, code ORDER BY system, code`);
}

async function peopleNotes(store: Store): Promise<string[]> {
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

const share = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`;

async function eventNotes(
	store: Store,
	source: TableSource,
	plan: Plan,
	{ table, staged, kind, codes, rows, mergedRows, records, recordCount }: Events,
): Promise<string[]> {
	if (rows === 0) return [`${source.nameOf(table)} contains no rows`];
	const notes: string[] = [];
	const from = `FROM ${staged} e ${codes.joins}`;
	const systems = await store.all<{ system: string; count: number }>(
		`SELECT system, count(*) AS count FROM stored_record WHERE ${records}
		GROUP BY system ORDER BY count DESC, system`,
	);
	const parts = systems.map(({ system, count }) => `${share(count, rows)} ${system}`);
	notes.push(`${table.name}: ${rows} rows${parts.length > 0 ? `: ${parts.join(", ")}` : ""}`);
	if (mergedRows > 0)
		notes.push(
			`${table.name}: ${mergedRows} more rows repeat the source code of another, of the same person and time, under a second concept: one record each time`,
		);
	const left = rows - recordCount;
	if (left > 0 && table === observation)
		notes.push(`observation: ${left} rows left out, for their source is no ICD code`);
	else if (left > 0) {
		const values = await store.count(
			`${staged} e ${codes.joins} WHERE ${codes.system} IS NULL AND e.source_value IS NOT NULL`,
		);
		const hint =
			values > 0 && kind === "diagnosis"
				? `; ${values} of them have a source value: pass --source-system to use it`
				: "";
		notes.push(`${table.name}: ${left} rows left out: concept 0 and no source code${hint}`);
	}
	if (table === plan.condition) {
		const chosen = await store.all<{ rows: number; concepts: number }>(
			`SELECT count(*) AS rows, count(DISTINCT e.concept) AS concepts ${from}
			WHERE c.choices > 1 AND s.concept IS NULL
				AND ${plan.sourceSystem ? "e.source_value IS NULL" : "true"}`,
		);
		if (chosen[0]?.rows)
			notes.push(
				`${table.name}: ${chosen[0].rows} rows of ${chosen[0].concepts} concepts could be several ICD codes; the shortest was taken, then the first in order`,
			);
	}
	return notes;
}

async function orphanNotes(
	store: Store,
	source: TableSource,
	events: readonly Events[],
): Promise<string[]> {
	const all = events.map(({ staged }) => `SELECT DISTINCT patient FROM ${staged}`).join(" UNION ");
	const orphans = await store.count(
		`(${all}) WHERE patient NOT IN (SELECT patient FROM omop_person)`,
	);
	const text = `${orphans} patients are not in ${source.nameOf(person)}: birth and sex are not known`;
	return notesFor([[orphans, text]]);
}
