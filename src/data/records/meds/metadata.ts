import { InputError } from "../../../base/errors.js";
import type { RecordKind, Split } from "../rows.js";
import { named, quoted } from "../sql.js";
import type { Store } from "../store.js";
import { openTable, rowOfFile, type Table, withNumberedRows } from "../table.js";
import { findColumn, idText, needColumn, wanted } from "./columns.js";

/** Reads names from `codes.parquet`; of several rows for a code, the first with a name counts. */
export async function loadNames(
	store: Store,
	file: string,
	kinds: readonly RecordKind[],
): Promise<void> {
	const table = await openTable(store, file);
	const code = needColumn(table, wanted.code);
	const name = findColumn(table, wanted.description);
	if (!name) return;
	await withNumberedRows(store, table, [code.name, name.name], (rows) =>
		store.run(
			`INSERT INTO code_name
			SELECT system, meds_code.code, first(trim(described.${named(name.name)}) ORDER BY ${rowOfFile}), NULL, NULL
			FROM ${rows} described JOIN meds_code ON described.${named(code.name)} = meds
			WHERE "is" = 'record' AND kind IN (${kinds.map(quoted).join(", ")})
			AND trim(described.${named(name.name)}) <> ''
			GROUP BY system, meds_code.code ORDER BY min(${rowOfFile})`,
		),
	);
}

/** The split names of MEDS, and ours. */
const splits: Readonly<Record<string, Split>> = {
	train: "train",
	tuning: "valid",
	held_out: "test",
};

/** Creates the table of subjects and their splits; it is empty without a file. */
export async function loadSplits(store: Store, file: string | undefined): Promise<void> {
	await store.run(
		"CREATE TEMP TABLE meds_split (row BIGINT, subject VARCHAR, split VARCHAR, word VARCHAR)",
	);
	if (!file) return;
	const table = await openTable(store, file);
	const subject = needColumn(table, wanted.subject);
	const split = needColumn(table, wanted.split);
	const cases = Object.entries(splits).map(
		([name, ours]) => `WHEN ${quoted(name)} THEN ${quoted(ours)}`,
	);
	await withNumberedRows(store, table, [subject.name, split.name], (rows) =>
		store.run(
			`INSERT INTO meds_split SELECT ${rowOfFile}, ${idText(subject)}, CASE ${named(split.name)} ${cases.join(" ")} END, left(${named(split.name)}, 40) FROM ${rows}`,
		),
	);
	await checkSplits(store, table);
}

async function checkSplits(store: Store, table: Table): Promise<void> {
	const [fault] = await store.all<{ row: number; subject: string | null; word: string | null }>(
		`SELECT row, subject, word FROM meds_split
		WHERE coalesce(subject, '') = '' OR split IS NULL ORDER BY row LIMIT 1`,
	);
	if (fault) {
		const place = await table.place(fault.row);
		if (!fault.subject)
			throw new InputError(`${place} has no subject_id; expected one in every row`);
		throw new InputError(
			`${place} has split ${JSON.stringify(fault.word)}; expected ${Object.keys(splits).join(", ")}: rename it, or pass \`ignoreSplits\``,
		);
	}
	const [twice] = await store.all<{ subject: string; first: number; second: number }>(
		`SELECT subject, min(row) AS first, min(row, 2)[2] AS second FROM meds_split
		GROUP BY subject HAVING count(*) > 1 ORDER BY second LIMIT 1`,
	);
	if (twice)
		throw new InputError(
			`${await table.place(twice.second)} gives subject ${twice.subject} a second time, after ${await table.place(twice.first)}; expected every subject once: keep one of the two, or pass \`ignoreSplits\``,
		);
}
