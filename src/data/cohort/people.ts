import { InputError } from "../../base/errors.js";
import { hash32, hashText } from "../../base/random.js";
import { notesFor } from "../records/bad-rows.js";
import { type Column, quoted, type Table } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openTable, stageRows } from "../records/table.js";
import { columnOf, noColumn } from "../records/tables/columns.js";
import { splits } from "../records/tables/people.js";
import { plainText } from "../records/tables/values.js";
import { splitNames } from "./manifest.js";
import {
	birthRemedy,
	type Contradictions,
	knownPeopleSql,
	peopleNotes,
	twoOf,
} from "./reading/people.js";
import { birthSql, deathRecord, deathTimeSql, isAfterDeathSql } from "./reading/rules.js";

interface PeopleOptions {
	readonly splitSeed: number;
	readonly splitParts: SplitParts;
	/** A file with the splits of patients, which come before those of the source. */
	readonly splitsFrom?: string | undefined;
}

/**
 * Creates table `patient` (id, key, birth, sex, death, split, first, last) of everybody with a record, ordered by
 * key; `first` and `last` are the times of the first and last record.
 */
export async function gatherPeople(store: Store, options: PeopleOptions) {
	await checkOne(store, "birth", ...birthRemedy);
	await checkOne(store, "split", "splits", "keep each patient in one of train, valid and test");
	await store.run(`CREATE TABLE known AS ${knownPeopleSql}`);
	await store.run(`
		CREATE TABLE seen AS
		SELECT (row_number() OVER (ORDER BY patient) - 1)::INTEGER AS id, patient AS key, first, last
		FROM (SELECT patient, min(time) AS first, max(time) AS last FROM record GROUP BY patient)`);
	if (options.splitsFrom === undefined)
		await store.create("given_split", "key VARCHAR, split VARCHAR");
	else await readGivenSplits(store, options.splitsFrom);
	const [odd] = await store.all<{ [Name in keyof Contradictions | "given"]: number }>(`
		SELECT count(*) FILTER (two_sexes) AS sexes, count(*) FILTER (two_deaths) AS deaths,
			count(*) FILTER (birth > first) AS births, count(*) FILTER (${isAfterDeathSql}) AS late,
			count(*) FILTER (coalesce(given_split.split, known.split) IS NOT NULL) AS given
		FROM seen LEFT JOIN known ON known.patient = seen.key LEFT JOIN given_split USING (key)`);
	const absent = await store.count("known ANTI JOIN seen ON known.patient = seen.key");
	const notes = [
		...notesFor([[absent, `${absent} people have no record: left out`]]),
		...peopleNotes(odd),
		...(options.splitsFrom === undefined ? [] : await splitNotes(store, options.splitsFrom)),
	];

	await store.create("hashed", "id INTEGER, split VARCHAR");
	await store.append("hashed", await hashedSplits(store, options));
	await store.run(`
		CREATE TABLE patient AS
		SELECT id, key, ${birthSql} AS birth, sex, death,
			coalesce(given_split.split, known.split, hashed.split) AS split, first, last
		FROM seen JOIN hashed USING (id) LEFT JOIN known ON known.patient = seen.key
			LEFT JOIN given_split USING (key)
		ORDER BY id`);
	for (const table of ["hashed", "seen", "known", "given_split"])
		await store.run(`DROP TABLE ${table}`);
	/** `given`: patients whose split the source defines. */
	return { notes, given: odd.given };
}

/** Patients of the records without a split in the file, and the reverse. */
async function splitNotes(store: Store, file: string): Promise<string[]> {
	const missing = await store.count("seen ANTI JOIN given_split USING (key)");
	const strangers = await store.count("given_split ANTI JOIN seen USING (key)");
	if (missing === (await store.count("seen")))
		throw new InputError(
			`${file} has a split for none of the ${missing} patients of the records${strangers > 0 ? `, and ${strangers} others` : ""}; check that both name patients alike`,
			{ field: "splitsFrom", value: file },
		);
	return notesFor([
		[missing, `${missing} patients are not in ${file}: split by the source or by their id`],
		[strangers, `${strangers} patients of ${file} have no record: left out`],
	]);
}

/** The split of each patient of `seen` by the hash of its id, in order. */
async function hashedSplits(store: Store, { splitSeed, splitParts }: PeopleOptions) {
	const positions = new Uint8Array(await store.count("seen")); // positions in splitNames
	let read = 0;
	for await (const { columns } of store.stream("SELECT key FROM seen ORDER BY id"))
		for (const key of columns[0] as string[])
			positions[read++] = splitNames.indexOf(splitOf(key, splitSeed, splitParts));
	return (function* () {
		for (const [id, split] of positions.entries()) yield { id, split: splitNames[split] };
	})();
}

/** Rejects a patient with two different values of a column. */
async function checkOne(store: Store, column: string, what: string, remedy: string): Promise<void> {
	const [wrong] = await store.all<{ patient: string }>(`
		SELECT patient FROM person GROUP BY patient
		HAVING min(${column}) <> max(${column}) ORDER BY min(rowid) LIMIT 1`);
	if (!wrong) return;
	const places = await store.all<{ place: string }>(`
		SELECT arg_min(place, rowid) AS place FROM person
		WHERE patient = ${quoted(wrong.patient)} AND ${column} IS NOT NULL
		GROUP BY ${column} ORDER BY min(rowid) LIMIT 2`);
	throw twoOf(
		wrong.patient,
		what,
		places.map(({ place }) => place),
		remedy,
	);
}

/** Adds deaths as records. */
export async function addDeaths(store: Store): Promise<number> {
	const { code, system, kind } = deathRecord;
	await store.addRecords(`
		SELECT id + 1 AS row, key AS patient, ${deathTimeSql} AS time, ${quoted(code)} AS code,
			${quoted(system)} AS system, ${quoted(kind)} AS kind
		FROM patient WHERE death IS NOT NULL`);
	await store.append("code_name", [{ system, code, name: "Death", category: null, kind: null }]);
	return store.count("patient WHERE death IS NOT NULL");
}

/** Names of the column of patients, in files of splits or labels; "id" comes last, as it may be that of the row. */
export const patientColumns = ["subject_id", "patient", "patient_id", "person_id", "id"] as const;

/** The column of a table for the patient, the split or the value, by the names it may have. */
export function requiredColumn(
	table: Table,
	what: string,
	names: readonly string[],
	details?: { readonly field: string; readonly value: string },
): Column {
	const column = columnOf(table, names);
	if (column) return column;
	throw noColumn(table, `for the ${what}`, `one of ${names.join(", ")}`, details);
}

/** Reads the splits of a CSV or Parquet file into table `given_split` (key, split): one row per patient. */
export async function readGivenSplits(store: Store, file: string): Promise<void> {
	const table = await openTable(store, file);
	const details = { field: "splitsFrom", value: file };
	const patient = requiredColumn(table, "patient", patientColumns, details);
	const split = requiredColumn(table, "split", ["split"], details);
	const word = `lower(trim(${plainText(split, "whole")}))`;
	const cases = Object.entries(splits)
		.map(([name, words]) => `WHEN word IN (${words.map(quoted).join(", ")}) THEN ${quoted(name)}`)
		.join(" ");
	const columns = { key: plainText(patient, "whole"), word, split: `CASE ${cases} END` };
	await stageRows(store, table, "split_row", columns, {
		reads: [patient, split],
		details,
		faults: [
			{ when: "key IS NULL OR key = ''", say: () => " names no patient; expected an id" },
			{
				when: "split IS NULL",
				say: (row) =>
					` has split "${row.word ?? ""}"; expected train, valid or test (or tuning, held_out and other usual names)`,
			},
			{
				when: "key IN (SELECT key FROM split_row GROUP BY key HAVING min(split) <> max(split))",
				say: () =>
					" puts a patient into a split, and another line puts them into another; keep one of the two",
			},
		],
	});
	await store.run("CREATE TABLE given_split AS SELECT DISTINCT key, split FROM split_row");
	await store.run("DROP TABLE split_row");
}

/** Percentages of patients for training, validation and test; their sum is 100. */
export type SplitParts = readonly [train: number, valid: number, test: number];

export const usualParts: SplitParts = [80, 10, 10];

/** Assigns a split by a seeded hash of the id, so that added patients do not change the split of others. */
export function splitOf(patient: string, seed: number, [train, valid]: SplitParts = usualParts) {
	const percent = (hashText(patient, hash32(seed, 0)) / 0x100000000) * 100; // [0, 100)
	return percent < train ? "train" : percent < train + valid ? "valid" : "test";
}
