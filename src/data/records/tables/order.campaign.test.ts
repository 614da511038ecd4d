import { join } from "node:path";
import { expect, test } from "vitest";
import { quoted } from "../sql.js";
import { type Store, withStore } from "../store.js";
import { temporaryFolder } from "../testing/temporary-folder.js";
import { openCsv, openParquetRecords } from "./index.js";

/** So many that DuckDB reads the file in several parts: more than 30 MB of text, eight row groups of Parquet. */
const rows = 900_000;

const csv = "FORMAT csv, HEADER";
const parquet = "FORMAT parquet, ROW_GROUP_SIZE 122880";

/** Writes a file of records, in order; `value` is the number of the row, from 0, and at times missing. */
async function writeRecords(store: Store, file: string, format: string): Promise<void> {
	await store.run(`COPY (
		SELECT 'patient-' || printf('%07d', range * 7919 % 20000) AS patient,
			DATE '2010-01-01' + (range % 90)::INTEGER AS date,
			'250.' || range % 10 AS dx1, CASE WHEN range % 3 > 0 THEN '401.' || range % 10 END AS dx2,
			CASE WHEN range % 11 = 0 THEN 'NA' ELSE range::VARCHAR END AS value
		FROM range(${rows})) TO ${quoted(file)} (${format})`);
}

test.each([
	["values, CSV", csv, "dx1"],
	["values, Parquet", parquet, "dx1"],
	["several columns of codes, CSV", csv, "dx*"],
	["several columns of codes, Parquet", parquet, "dx*"],
])("four threads keep the order of a large file: %s", async (_, format, code) => {
	const folder = await temporaryFolder();
	const file = join(folder, format === csv ? "records.csv" : "records.parquet");
	await withStore({ memory: 2 ** 30, threads: 4, files: [file] }, async (store) => {
		await writeRecords(store, file, format);
		const open = format === csv ? openCsv : openParquetRecords;
		const source = await open(file, { code, system: "icd9", value: "value" });
		await source.load(store);
		const codes = code === "dx*" ? 2 : 1;
		const [counts] = await store.all<{ records: number; early: number; swapped: number }>(`
			SELECT count(*) AS records, count(*) FILTER (value < value_before) AS early,
				count(*) FILTER (value = value_before AND code < code_before) AS swapped
			FROM (SELECT value, code, lag(value) OVER in_order AS value_before,
					lag(code) OVER in_order AS code_before
				FROM record WHERE value IS NOT NULL WINDOW in_order AS (ORDER BY row))`);
		const valued = `range(${rows}) WHERE range % 11 > 0`;
		const first = await store.count(valued);
		const second = codes === 2 ? await store.count(`${valued} AND range % 3 > 0`) : 0;
		expect(counts).toEqual({ records: first + second, early: 0, swapped: 0 });
	});
});
