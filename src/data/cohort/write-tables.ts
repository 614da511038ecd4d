import { resolve } from "node:path";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";

export const tableNames = [
	"events.parquet",
	"patients.parquet",
	"labels.parquet",
	"observation.parquet",
] as const;

/** Rows per row group of events.parquet. */
const rowGroup = 32768;

/** Writes the tables of a dataset. Reads `final`, `cohort`, `patient`, `label` and `period`. */
export async function writeTables(store: Store, folder: string): Promise<void> {
	const copy = (sql: string, name: (typeof tableNames)[number]) =>
		store.run(
			`COPY (${sql}) TO ${quoted(resolve(folder, name))} (FORMAT parquet, ROW_GROUP_SIZE ${rowGroup})`,
		);
	await copy("SELECT patient, time, token FROM final", "events.parquet");
	await copy(
		`SELECT key AS id, birth, sex, death, split,
			(sum(own.count) OVER (ORDER BY number) - own.count)::INTEGER AS first, own.count AS count
		FROM cohort JOIN patient USING (id)
		JOIN (SELECT patient, count(*)::INTEGER AS count FROM final GROUP BY patient) AS own
			ON own.patient = cohort.number
		ORDER BY number`,
		"patients.parquet",
	);
	await copy(
		`SELECT task, patient, day AS time, events, value FROM label
		ORDER BY task, patient, day`,
		"labels.parquet",
	);
	await copy(
		`SELECT patient, first AS start, last AS "end" FROM period ORDER BY patient, start`,
		"observation.parquet",
	);
}
