import type { RecordKind } from "../rows.js";
import { named, quoted } from "../sql.js";
import type { Store } from "../store.js";
import { openTable, reading } from "../table.js";
import { findColumn, needColumn, rowNumber, textType } from "./columns.js";

/** Reads names from `codes.parquet`; of several rows for a code, the first with a name counts. */
export async function loadNames(
	store: Store,
	file: string,
	kinds: readonly RecordKind[],
): Promise<void> {
	const table = await openTable(store, file);
	const code = needColumn(table, { names: ["code"], types: textType, expected: "text" });
	const name = findColumn(table, { names: ["description"], types: textType, expected: "text" });
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
