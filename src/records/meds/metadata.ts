import { InputError } from "../../base/errors.js";
import type { RecordKind, Split } from "../rows.js";
import { named, quoted } from "../sql.js";
import type { Store } from "../store.js";
import { openTable, reading, type Table } from "../table.js";
import { findColumn, idText, needColumn, rowNumber, wanted } from "./columns.js";

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
	await reading(table, () =>
		store.run(
			`INSERT INTO code_name
			SELECT system, meds_code.code, first(trim(described.${named(name.name)}) ORDER BY row), NULL, NULL
			FROM (SELECT ${rowNumber(table)} AS row, * FROM ${table.sql}) described JOIN meds_code ON described.${named(code.name)} = meds
			WHERE "is" = 'record' AND kind IN (${kinds.map(quoted).join(", ")})
			AND trim(described.${named(name.name)}) <> ''
			GROUP BY system, meds_code.code ORDER BY min(row)`,
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
	await store.run("CREATE TEMP TABLE meds_split (subject VARCHAR, split VARCHAR)");
	if (!file) return;
	const table = await openTable(store, file);
	const subject = needColumn(table, wanted.subject);
	const split = needColumn(table, wanted.split);
	const cases = Object.entries(splits).map(
		([name, ours]) => `WHEN ${quoted(name)} THEN ${quoted(ours)}`,
	);
	await reading(table, async () => {
		await store.run(
			`INSERT INTO meds_split SELECT ${idText(subject)}, CASE ${named(split.name)} ${cases.join(" ")} END FROM ${table.sql}`,
		);
		const name = `SELECT left(${named(split.name)}, 40) AS name FROM ${table.sql}`;
		await checkSplits(store, table, name);
	});
}

async function checkSplits(store: Store, table: Table, names: string): Promise<void> {
	const [fault] = await store.all<{ row: number; subject: string | null }>(
		`SELECT rowid + 1 AS row, subject FROM meds_split
		WHERE coalesce(subject, '') = '' OR split IS NULL ORDER BY rowid LIMIT 1`,
	);
	if (fault) {
		const place = await table.place(fault.row);
		if (!fault.subject)
			throw new InputError(`${place} has no subject_id; expected one in every row`);
		const [found] = await store.all<{ name: string | null }>(
			`${names} LIMIT 1 OFFSET ${fault.row - 1}`,
		);
		throw new InputError(
			`${place} has split ${JSON.stringify(found?.name ?? null)}; expected ${Object.keys(splits).join(", ")}: rename it, or pass \`ignoreSplits\``,
		);
	}
	const [twice] = await store.all<{ subject: string; first: number; second: number }>(
		`SELECT subject, min(rowid) + 1 AS first, min(rowid, 2)[2] + 1 AS second FROM meds_split
		GROUP BY subject HAVING count(*) > 1 ORDER BY second LIMIT 1`,
	);
	if (twice)
		throw new InputError(
			`${await table.place(twice.second)} gives subject ${twice.subject} a second time, after ${await table.place(twice.first)}; expected every subject once: keep one of the two, or pass \`ignoreSplits\``,
		);
}
