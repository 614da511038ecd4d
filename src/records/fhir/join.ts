import { InputError } from "../../base/errors.js";
import type { Store } from "../store.js";

/** What could not be found in any file. */
export interface Missing {
	readonly diagnosesWithoutTime: number;
	readonly drugsWithoutTime: number;
	/** Drugs whose Medication is in no file, or has no code. */
	readonly drugsWithoutCode: number;
	readonly patientsUnknown: number;
	/** Resources that came again later. */
	readonly olderVersions: number;
}

/** Tables whose rows go with the version that they are of. */
const versioned = ["fhir_record", "fhir_person", "fhir_time", "fhir_drug"];

/** Takes out what resources said that came again later. */
async function dropOlderVersions(store: Store): Promise<number> {
	await store.run(`
		CREATE OR REPLACE TABLE fhir_stale AS
		SELECT version FROM fhir_version
		JOIN (SELECT key, max(version) AS last FROM fhir_version GROUP BY key HAVING count(*) > 1) USING (key)
		WHERE version < last`);
	const [found] = await store.all<{ count: number }>("SELECT count(*) AS count FROM fhir_stale");
	if (!found?.count) return 0;
	for (const table of versioned)
		await store.run(`DELETE FROM ${table} WHERE version IN (SELECT version FROM fhir_stale)`);
	return found.count;
}

/**
 * Looks up what the staged records leave to other resources: patients under other names, births,
 * the times of encounters and the codes of Medications. A time that is known only to the month or
 * the year is its start, but never before the birth that lies within it.
 */
const found = `
	CREATE OR REPLACE TABLE fhir_found AS
	WITH alias AS (SELECT key, min(patient) AS patient FROM fhir_alias GROUP BY key),
	birth AS (SELECT patient, min(birth) AS birth FROM person WHERE birth IS NOT NULL GROUP BY patient),
	moment AS (SELECT key, min(day) AS day, arg_min(slack, day) AS slack FROM fhir_time GROUP BY key),
	late AS (
		SELECT row, arg_min(day, rank) AS day, arg_min(slack, rank) AS slack
		FROM fhir_wait JOIN moment USING (key) GROUP BY row
	),
	drug AS (
		SELECT * FROM fhir_drug
		JOIN (SELECT key, max(version) AS version FROM fhir_drug GROUP BY key) USING (key, version)
	),
	person_known AS (
		SELECT r.*, coalesce(alias.patient, r.patient) AS known
		FROM fhir_record r LEFT JOIN alias ON r.alias = alias.key
	),
	timed AS (
		SELECT r.*, birth.birth, coalesce(birth.birth + r.age, r.day, late.day) AS start,
			CASE WHEN birth.birth + r.age IS NOT NULL THEN 0 WHEN r.day IS NOT NULL THEN r.slack ELSE late.slack END AS room
		FROM person_known r
		LEFT JOIN birth ON r.known = birth.patient
		LEFT JOIN late ON r.row = late.row
	)
	SELECT t.row, t.known AS patient, t.kind,
		CASE WHEN birth > start AND birth <= start + room THEN birth ELSE start END AS time,
		coalesce(t.code, drug.code) AS code,
		coalesce(t.system, drug.system) AS system,
		CASE WHEN t.code IS NULL THEN drug.name ELSE t.name END AS name,
		drug.refused
	FROM timed t LEFT JOIN drug ON t.medication = drug.key
	ORDER BY t.row, coalesce(drug.rank, t.rank)`;

/** Moves what was staged into the reader's tables. */
export async function joinStaged(store: Store): Promise<Missing> {
	const olderVersions = await dropOlderVersions(store);
	await store.run(
		"INSERT INTO person SELECT patient, birth, sex, death, NULL, place FROM fhir_person ORDER BY version",
	);
	await store.run(found);
	const [refused] = await store.all<{ refused: string }>(
		"SELECT refused FROM fhir_found WHERE refused IS NOT NULL AND time IS NOT NULL ORDER BY rowid LIMIT 1",
	);
	if (refused) throw new InputError(refused.refused);
	await store.run(`
		INSERT INTO record
		SELECT patient, time, code, system, kind, NULL FROM fhir_found
		WHERE time IS NOT NULL AND code IS NOT NULL`);
	await store.run(`
		INSERT INTO code_name
		SELECT system, code, arg_min(name, rowid), NULL, NULL FROM fhir_found
		WHERE time IS NOT NULL AND code IS NOT NULL AND name IS NOT NULL
		GROUP BY system, code ORDER BY min(rowid)`);
	const [counts] = await store.all<{ [Key in keyof Missing]: number }>(`
		SELECT
			count(DISTINCT row) FILTER (WHERE time IS NULL AND kind = 'diagnosis') AS diagnosesWithoutTime,
			count(DISTINCT row) FILTER (WHERE time IS NULL AND kind = 'drug') AS drugsWithoutTime,
			count(DISTINCT row) FILTER (WHERE time IS NOT NULL AND code IS NULL) AS drugsWithoutCode,
			(SELECT count(DISTINCT patient) FROM record ANTI JOIN person USING (patient)) AS patientsUnknown
		FROM fhir_found`);
	return { ...(counts as Missing), olderVersions };
}
