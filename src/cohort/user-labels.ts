import { InputError } from "../base/errors.js";
import { named, quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openTable, reading } from "../records/table.js";
import { daysOf, isBadTime, plainText, rawText } from "../records/tables/values.js";
import { summarized } from "./labels.js";
import type { Manifest } from "./manifest.js";

/** Labels from a CSV or Parquet file, with column names of MEDS or plain ones. */
export interface UserLabels {
	readonly task: string;
	readonly file: string;
}

const columnNames = {
	patient: ["subject_id", "patient", "patient_id", "person_id", "id"],
	time: ["prediction_time", "time", "date"],
	value: ["boolean_value", "value", "label"],
} as const;

const truths = "('1', 'true', 't', 'yes', 'y', 'positive')";
const falsehoods = "('0', 'false', 'f', 'no', 'n', 'negative')";

/**
 * Adds the labels of a file to table `label`. The model may see the history up to and including the time of a
 * label, or all of it if there is no time.
 */
export async function addUserLabels(
	store: Store,
	{ task, file }: UserLabels,
	axis: "dates" | "days",
): Promise<{ summary: Manifest["labels"][number]; notes: string[] }> {
	const table = await openTable(store, file);
	const find = (what: keyof typeof columnNames) => {
		const wanted: readonly string[] = columnNames[what];
		const found = table.columns.find(({ name }) => wanted.includes(name.toLowerCase()));
		return found && { ...found, table, sql: named(found.name) };
	};
	const need = (what: keyof typeof columnNames) => {
		const found = find(what);
		if (found) return found;
		throw new InputError(
			`${file} has no column for the ${what}; it has ${table.columns.map(({ name }) => name).join(", ")}; expected one of ${columnNames[what].join(", ")}`,
		);
	};
	const [patient, time, answer] = [need("patient"), find("time"), need("value")];
	const unit = axis === "dates" ? "date" : "days";
	const day = time ? daysOf(time, unit) : "NULL::DOUBLE";
	const word = `lower(${answer.type === "BOOLEAN" ? rawText(answer) : plainText(answer, "whole")})`;
	await reading(table, () =>
		store.run(`
			CREATE OR REPLACE TABLE given AS
			SELECT ${plainText(patient, "whole")} AS key, ${day} AS day,
				CASE WHEN ${word} IN ${truths} THEN true WHEN ${word} IN ${falsehoods} THEN false END AS value
			FROM ${table.sql}`),
	);
	const refuse = async (condition: string, what: string) => {
		const [bad] = await store.all<{ row: number }>(
			`SELECT min(rowid) + 1 AS row FROM given WHERE ${condition}`,
		);
		if (bad?.row == null) return;
		throw new InputError(`${await table.place(bad.row)} ${what}`);
	};
	await refuse("key IS NULL OR key = ''", "names no patient; expected an id");
	await refuse("value IS NULL", "has no value; expected true or false, 1 or 0");
	const forms = axis === "dates" ? "a date such as 2019-05-31" : "a number of days";
	if (time) await refuse(isBadTime("day", unit), `has no time that can be read; expected ${forms}`);
	await refuse(
		"(key, coalesce(day, 0)) IN (SELECT (key, coalesce(day, 0)) FROM given GROUP BY key, day HAVING min(value) <> max(value))",
		"contradicts another line about the same patient and time; keep one of the two",
	);
	await store.run(`
		CREATE OR REPLACE TABLE labelled AS
		SELECT DISTINCT cohort.number AS patient, given.day, value
		FROM given JOIN patient USING (key) JOIN cohort USING (id)`);
	await store.run(`
		INSERT INTO label
		SELECT ${quoted(task)}, patient, coalesce(any_value(labelled.day), max(final.time)),
			(count(*) FILTER (labelled.day IS NULL OR final.time <= labelled.day))::INTEGER AS events,
			any_value(value)
		FROM final JOIN labelled USING (patient)
		GROUP BY patient, labelled.day HAVING events > 0 ORDER BY patient, labelled.day`);
	const [counts] = await store.all<{ given: number; labelled: number; strangers: number }>(`
		SELECT (SELECT count(*) FROM given) AS given, (SELECT count(*) FROM labelled) AS labelled,
			(SELECT count(*) FROM given ANTI JOIN patient USING (key)) AS strangers`);
	const summary = await summarized(store, task, `given in ${file}`, {});
	const unseen = (counts?.labelled ?? 0) - summary.labels;
	const outside = (counts?.given ?? 0) - (counts?.labelled ?? 0);
	const notes =
		outside > 0
			? [
					`${file}: ${outside} of ${counts?.given} labels are of patients outside the dataset (${counts?.strangers} of them without any record) or repeat another: left out`,
				]
			: [];
	await store.run("DROP TABLE given");
	await store.run("DROP TABLE labelled");
	return {
		summary: { ...summary, excluded: unseen > 0 ? { "no event before the question": unseen } : {} },
		notes,
	};
}
