import { listUnder } from "../../../base/arrays.js";
import { type BadRows, reportBad } from "../bad-rows.js";
import type { RecordKind, RecordRow, Sex } from "../rows.js";
import type { Store, Value } from "../store.js";

/**
 * The rows of resources before references between them are resolved. `version` counts the resources read.
 */
const stagedTables = {
	fhir_record: {
		version: "DOUBLE",
		/** Counts the records; the codings of one record share it. */
		row: "DOUBLE",
		rank: "DOUBLE",
		patient: "VARCHAR",
		/** A key under which the Patient may have another id. */
		alias: "VARCHAR",
		day: "DOUBLE",
		slack: "DOUBLE",
		/** Days since birth, used instead of `day` if the birth is known. */
		age: "DOUBLE",
		kind: "VARCHAR",
		/** The Medication with the code, if the record has none. */
		medication: "VARCHAR",
		code: "VARCHAR",
		system: "VARCHAR",
		name: "VARCHAR",
		value: "DOUBLE",
		unit: "VARCHAR",
	},
	fhir_person: {
		version: "DOUBLE",
		patient: "VARCHAR",
		birth: "DOUBLE",
		sex: "VARCHAR",
		death: "DOUBLE",
		place: "VARCHAR",
	},
	/** One row per resource with a key; of several with the same key, the last counts. */
	fhir_version: { key: "VARCHAR", version: "DOUBLE" },
	/** Other keys of patients. */
	fhir_alias: { key: "VARCHAR", patient: "VARCHAR" },
	/** For records without a time: the keys that give it, the lowest rank first. */
	fhir_time_from: { row: "DOUBLE", rank: "DOUBLE", key: "VARCHAR" },
	/** When encounters started, by their own keys and those of their diagnoses. */
	fhir_encounter_time: { version: "DOUBLE", key: "VARCHAR", day: "DOUBLE", slack: "DOUBLE" },
	/** The codings of Medications. */
	fhir_medication: {
		key: "VARCHAR",
		version: "DOUBLE",
		rank: "DOUBLE",
		code: "VARCHAR",
		system: "VARCHAR",
		name: "VARCHAR",
		/** Why a record of this Medication is refused. */
		refused: "VARCHAR",
	},
} as const satisfies Record<string, Readonly<Record<string, "VARCHAR" | "DOUBLE">>>;

type Tables = typeof stagedTables;
export type StagedTable = keyof Tables;

/** A row of a staged table. */
export type StagedRow<Name extends StagedTable> = {
	readonly [Column in keyof Tables[Name]]:
		| (Tables[Name][Column] extends "VARCHAR" ? string : number)
		| (Column extends "version" | "row" | "rank" | "key" | "patient" | "slack" ? never : null);
};

const mostRows = 8192;
const mostText = 8 * 1024 * 1024; // characters

/** Staged rows in memory; those of large sources are written to a store in batches, within its memory limit. */
export class StagedRows {
	readonly #tables = new Map<StagedTable, Readonly<Record<string, Value>>[]>();
	#rows = 0;
	#text = 0;

	add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void {
		listUnder<StagedTable, Readonly<Record<string, Value>>>(this.#tables, table, row);
		this.#rows++;
		for (const value of Object.values(row))
			if (typeof value === "string") this.#text += value.length;
	}

	of<Name extends StagedTable>(table: Name): readonly StagedRow<Name>[] {
		return (this.#tables.get(table) ?? []) as unknown as StagedRow<Name>[];
	}

	get isFull(): boolean {
		return this.#rows >= mostRows || this.#text >= mostText;
	}

	/** Moves the rows into the tables of `createStaged`. */
	async moveTo(store: Store): Promise<void> {
		for (const [table, rows] of this.#tables) await store.append<string>(table, rows);
		this.#tables.clear();
		this.#rows = 0;
		this.#text = 0;
	}
}

export async function createStaged(store: Store): Promise<void> {
	for (const [name, columns] of Object.entries(stagedTables)) {
		const list = Object.entries(columns).map(([column, type]) => `${column} ${type}`);
		await store.create(name, list.join(", "));
	}
}

/*
 * Resolves references from staged records to other resources, in a store (SQL) and in memory. Both follow these
 * rules, and a property test compares them:
 * - Of several resources with one key, the last counts.
 * - A subject may be given by another key of the Patient (`fhir_alias`).
 * - The time is birth plus age if both are known, else the record's own time, else the earliest start of the
 *   first known encounter.
 * - A time known only to the month or the year is its start, but not before a birth that lies within it.
 * - The code of a drug may be that of a Medication.
 */

/** Counts of references without a target. */
export type Unresolved = ReturnType<typeof resolveInMemory>["unresolved"];

/** Drops the rows of resources that a later version replaces. */
async function dropOlderVersions(store: Store): Promise<number> {
	await store.run(`
		CREATE OR REPLACE TABLE fhir_outdated AS
		SELECT version FROM fhir_version
		JOIN (SELECT key, max(version) AS last FROM fhir_version GROUP BY key HAVING count(*) > 1) USING (key)
		WHERE version < last`);
	const outdated = await store.count("fhir_outdated");
	if (outdated > 0)
		for (const table of ["fhir_record", "fhir_person", "fhir_encounter_time", "fhir_medication"])
			await store.run(`DELETE FROM ${table} WHERE version IN (SELECT version FROM fhir_outdated)`);
	return outdated;
}

const resolved = `
	CREATE OR REPLACE TABLE fhir_resolved AS
	WITH alias AS (SELECT key, min(patient) AS patient FROM fhir_alias GROUP BY key),
	birth AS (SELECT patient, min(birth) AS birth FROM person WHERE birth IS NOT NULL GROUP BY patient),
	moment AS (SELECT key, min(day) AS day, arg_min(slack, {'day': day, 'version': version, 'position': rowid}) AS slack FROM fhir_encounter_time GROUP BY key),
	encounter AS (
		SELECT row, arg_min(day, rank) AS day, arg_min(slack, rank) AS slack
		FROM fhir_time_from JOIN moment USING (key) GROUP BY row
	),
	medication AS (
		SELECT * FROM fhir_medication
		JOIN (SELECT key, max(version) AS version FROM fhir_medication GROUP BY key) USING (key, version)
	),
	person_known AS (
		SELECT r.*, coalesce(alias.patient, r.patient) AS known
		FROM fhir_record r LEFT JOIN alias ON r.alias = alias.key
	),
	timed AS (
		SELECT r.*, birth.birth, coalesce(birth.birth + r.age, r.day, encounter.day) AS start,
			CASE WHEN birth.birth + r.age IS NOT NULL THEN 0 WHEN r.day IS NOT NULL THEN r.slack ELSE encounter.slack END AS leeway
		FROM person_known r
		LEFT JOIN birth ON r.known = birth.patient
		LEFT JOIN encounter ON r.row = encounter.row
	)
	SELECT row_number() OVER (ORDER BY t.row, coalesce(medication.rank, t.rank)) AS position,
		t.row, t.known AS patient, t.kind,
		CASE WHEN birth > start AND birth <= start + leeway THEN birth ELSE start END AS time,
		coalesce(t.code, medication.code) AS code,
		coalesce(t.system, medication.system) AS system,
		CASE WHEN t.code IS NULL THEN medication.name ELSE t.name END AS name,
		t.value, t.unit, medication.refused
	FROM timed t LEFT JOIN medication ON t.medication = medication.key`;

/** Turns the staged tables of a store into `person`, `record` and `code_name`, and drops them. */
export async function resolveInStore(store: Store, bad?: BadRows): Promise<Unresolved> {
	const olderVersions = await dropOlderVersions(store);
	await store.run(
		"INSERT INTO person SELECT patient, birth, sex, death, NULL, place FROM fhir_person ORDER BY version",
	);
	await store.run(resolved);
	const refused = "fhir_resolved WHERE refused IS NOT NULL AND time IS NOT NULL";
	await reportBad(bad, await store.count(refused), async (most) => {
		const rows = await store.all<{ refused: string }>(
			`SELECT refused FROM ${refused} ORDER BY position LIMIT ${most}`,
		);
		return rows.map((row) => row.refused);
	});
	if (bad) await store.run(`DELETE FROM ${refused}`);
	await store.addRecords(`
		SELECT position AS row, patient, time, code, system, kind, value, unit FROM fhir_resolved
		WHERE time IS NOT NULL AND code IS NOT NULL`);
	await store.run(`
		INSERT INTO code_name
		SELECT system, code, arg_min(name, position), NULL, NULL FROM fhir_resolved
		WHERE time IS NOT NULL AND code IS NOT NULL AND name IS NOT NULL
		GROUP BY system, code ORDER BY min(position)`);
	const [counts] = await store.all<{ [Key in keyof Unresolved]: number }>(`
		SELECT
			count(DISTINCT row) FILTER (WHERE time IS NULL AND kind = 'diagnosis') AS diagnosesWithoutTime,
			count(DISTINCT row) FILTER (WHERE time IS NULL AND kind = 'drug') AS drugsWithoutTime,
			count(DISTINCT row) FILTER (WHERE time IS NULL AND kind = 'laboratory') AS measurementsWithoutTime,
			count(DISTINCT row) FILTER (WHERE time IS NOT NULL AND code IS NULL) AS drugsWithoutCode,
			(SELECT count(DISTINCT patient) FROM record ANTI JOIN person USING (patient)) AS patientsUnknown
		FROM fhir_resolved`);
	for (const table of ["fhir_outdated", "fhir_resolved", ...Object.keys(stagedTables)])
		await store.run(`DROP TABLE ${table}`);
	return { ...(counts as Unresolved), olderVersions };
}

/** The same for staged rows in memory. */
export function resolveInMemory(rows: StagedRows) {
	const versions = rows.of("fhir_version");
	const latest = new Map(versions.map(({ key, version }) => [key, version]));
	const outdated = new Set(
		versions.flatMap(({ key, version }) => (version === latest.get(key) ? [] : version)),
	);
	const current = <Row extends { readonly version: number }>(all: readonly Row[]) =>
		all.filter(({ version }) => !outdated.has(version));
	const people = current(rows.of("fhir_person")).map(({ patient, birth, sex, death, place }) => ({
		patient,
		birth,
		death,
		place: place ?? "",
		sex: sex as Sex | null,
	}));

	const aliases = lowest(rows.of("fhir_alias"), ({ patient }) => patient);
	const births = lowest(
		people.flatMap(({ patient: key, birth }) => (birth === null ? [] : { key, birth })),
		({ birth }) => birth,
	);
	const starts = lowest(current(rows.of("fhir_encounter_time")), ({ day }) => day as number);
	const encounters = new Map<number, StagedRow<"fhir_encounter_time">>();
	for (const { row, key } of rows.of("fhir_time_from")) {
		const start = starts.get(key);
		if (start && !encounters.has(row)) encounters.set(row, start);
	}
	const medications = new Map<string, StagedRow<"fhir_medication">[]>();
	for (const one of current(rows.of("fhir_medication"))) {
		const same = medications.get(one.key);
		if (same?.[0]?.version === one.version) same.push(one);
		else medications.set(one.key, [one]);
	}

	const records: RecordRow[] = [];
	const untimed = new Map<RecordKind, Set<number>>();
	const codeless = new Set<number>();
	for (const record of current(rows.of("fhir_record"))) {
		const kind = record.kind as RecordKind;
		const patient = aliases.get(record.alias ?? "")?.patient ?? record.patient;
		const birth = births.get(patient)?.birth;
		const time = timeOf(record, birth, encounters.get(record.row));
		const codings = (record.medication !== null && medications.get(record.medication)) || [record];
		const { value, unit } = record;
		for (const { code, system } of codings)
			if (time === undefined) untimed.set(kind, (untimed.get(kind) ?? new Set()).add(record.row));
			else if (code === null || system === null) codeless.add(record.row);
			else records.push({ patient, time, code, system, kind, value, unit });
	}
	const known = new Set(people.map(({ patient }) => patient));
	const unknown = new Set(records.flatMap(({ patient }) => (known.has(patient) ? [] : patient)));
	return {
		records,
		people,
		unresolved: {
			diagnosesWithoutTime: untimed.get("diagnosis")?.size ?? 0,
			drugsWithoutTime: untimed.get("drug")?.size ?? 0,
			measurementsWithoutTime: untimed.get("laboratory")?.size ?? 0,
			/** Drugs whose Medication is missing or has no code. */
			drugsWithoutCode: codeless.size,
			patientsUnknown: unknown.size,
			/** Resources that a later version replaces. */
			olderVersions: outdated.size,
		},
	};
}

/** Per key, the first row with the lowest value. */
function lowest<Row extends { readonly key: string }>(
	rows: readonly Row[],
	value: (row: Row) => number | string,
): ReadonlyMap<string, Row> {
	const lowestRows = new Map<string, Row>();
	for (const row of rows) {
		const before = lowestRows.get(row.key);
		if (!before || value(row) < value(before)) lowestRows.set(row.key, row);
	}
	return lowestRows;
}

function timeOf(
	{ age, day, slack }: StagedRow<"fhir_record">,
	birth: number | undefined,
	encounter: StagedRow<"fhir_encounter_time"> | undefined,
): number | undefined {
	if (age !== null && birth !== undefined) return birth + age;
	const start = day ?? encounter?.day ?? undefined;
	if (start === undefined) return undefined;
	const end = start + (day === null ? (encounter?.slack ?? 0) : slack);
	return birth !== undefined && birth > start && birth <= end ? birth : start;
}
