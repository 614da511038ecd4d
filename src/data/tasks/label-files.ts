import { resolve } from "node:path";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import type { Labels } from "./extract.js";

/** Creates table `task_label` (subject, moment, value) of labels. */
export async function storeLabels(
	store: Store,
	{ subjects, times, values }: Labels,
): Promise<void> {
	await store.create("given_label", { subject: "text", moment: "number", value: "whole" });
	await store.append(
		"given_label",
		(function* () {
			for (const [row, subject] of subjects.entries()) {
				const value = values[row];
				yield {
					subject,
					moment: times[row] as number,
					value: value == null ? null : Number(value),
				};
			}
		})(),
	);
	await store.run(`
		CREATE OR REPLACE TABLE task_label AS
		SELECT subject, CAST(moment AS BIGINT) AS moment, CAST(value AS BOOLEAN) AS value FROM given_label`);
	await store.run("DROP TABLE given_label");
}

/**
 * Writes table `task_label` as labels in MEDS: subject_id, prediction_time, boolean_value, and the columns of other
 * kinds of labels, empty. Returns whether subjects are whole numbers, as MEDS wants.
 */
export async function writeLabels(store: Store, file: string): Promise<boolean> {
	const [other] = await store.all<{ n: number }>(`
		SELECT count(*) AS n FROM task_label
		WHERE CAST(try_cast(subject AS BIGINT) AS VARCHAR) IS DISTINCT FROM subject`);
	const isWhole = (other?.n ?? 0) === 0;
	await store.run(`
		COPY (
			SELECT ${isWhole ? "CAST(subject AS BIGINT)" : "subject"} AS subject_id,
				make_timestamp(moment) AS prediction_time, value AS boolean_value,
				CAST(NULL AS BIGINT) AS integer_value, CAST(NULL AS FLOAT) AS float_value,
				CAST(NULL AS VARCHAR) AS categorical_value
			FROM task_label ORDER BY subject_id, prediction_time)
		TO ${quoted(resolve(file))} (FORMAT parquet)`);
	return isWhole;
}
