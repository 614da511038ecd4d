import { InputError } from "../../base/errors.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openTable, rowOfFile, withNumberedRows } from "../records/table.js";
import { columnOf, listed } from "../records/tables/columns.js";
import { splits } from "../records/tables/people.js";
import { plainText } from "../records/tables/values.js";

/** Names of the column of patients, in files of splits or labels; "id" comes last, as it may be that of the row. */
export const patientColumns = ["subject_id", "patient", "patient_id", "person_id", "id"] as const;

const columnNames = { patient: patientColumns, split: ["split"] } as const;

/** Reads the splits of a CSV or Parquet file into table `given_split` (key, split): one row per patient. */
export async function readGivenSplits(store: Store, file: string): Promise<void> {
	const table = await openTable(store, file);
	const need = (what: keyof typeof columnNames) => {
		const found = columnOf(table, columnNames[what]);
		if (found) return found;
		throw new InputError(
			`${file} has no column for the ${what}; it has ${listed(table.columns)}; expected one of ${columnNames[what].join(", ")}`,
			{ field: "splitsFrom", value: file },
		);
	};
	const [patient, split] = [need("patient"), need("split")];
	const cases = Object.entries(splits)
		.map(([name, words]) => `WHEN word IN (${words.map(quoted).join(", ")}) THEN ${quoted(name)}`)
		.join(" ");
	await withNumberedRows(store, table, [patient.name, split.name], (rows) =>
		store.run(`
			CREATE TABLE split_row AS
			SELECT row, key, word, CASE ${cases} END AS split
			FROM (SELECT ${rowOfFile} AS row, ${plainText(patient, "whole")} AS key,
				lower(trim(${plainText(split, "whole")})) AS word FROM ${rows})`),
	);
	const refuse = async (condition: string, what: (word: string) => string) => {
		const [bad] = await store.all<{ row: number; word: string | null }>(
			`SELECT row, word FROM split_row WHERE ${condition} ORDER BY row LIMIT 1`,
		);
		if (!bad) return;
		throw new InputError(`${await table.place(bad.row)} ${what(bad.word ?? "")}`, {
			field: "splitsFrom",
			value: file,
		});
	};
	await refuse("key IS NULL OR key = ''", () => "names no patient; expected an id");
	await refuse(
		"split IS NULL",
		(word) =>
			`has split "${word}"; expected train, valid or test (or tuning, held_out and other usual names)`,
	);
	await refuse(
		"key IN (SELECT key FROM split_row GROUP BY key HAVING min(split) <> max(split))",
		() =>
			"puts a patient into a split, and another line puts them into another; keep one of the two",
	);
	await store.run("CREATE TABLE given_split AS SELECT DISTINCT key, split FROM split_row");
	await store.run("DROP TABLE split_row");
}
