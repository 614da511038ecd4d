import { InputError } from "../base/errors.js";
import { daysFromText } from "../records/dates.js";
import { explainDelimited, lineOfRow, openDelimited } from "../records/delimited.js";
import type { Store } from "../records/store.js";
import { named, quoted } from "../records/store.js";
import { summarized } from "./labels.js";
import type { Manifest } from "./manifest.js";

/** Labels of a user's own: a CSV file, as MEDS names its columns or in plain words. */
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
 * Adds the labels of a file to table `label`. With a time, the history up to and including it may be seen;
 * without one, all of it.
 */
export async function addUserLabels(
	store: Store,
	{ task, file }: UserLabels,
	axis: "dates" | "days",
): Promise<{ summary: Manifest["labels"][number]; notes: string[] }> {
	const table = await openDelimited(file);
	const find = (wanted: readonly string[]) =>
		table.columns.find((column) => wanted.includes(column.toLowerCase()));
	const need = (what: keyof typeof columnNames) => {
		const found = find(columnNames[what]);
		if (found) return named(found);
		throw new InputError(
			`${file} has no column for the ${what}; it has ${table.columns.join(", ")}; expected one of ${columnNames[what].join(", ")}`,
		);
	};
	const timeColumn = find(columnNames.time);
	const day = !timeColumn
		? "NULL::DOUBLE"
		: axis === "dates"
			? daysFromText(named(timeColumn))
			: `try_cast(${named(timeColumn)} AS DOUBLE)`;
	const word = `lower(trim(${need("value")}))`;
	try {
		await store.run(`
			CREATE OR REPLACE TABLE given AS
			SELECT trim(${need("patient")}) AS key, ${day} AS day,
				${timeColumn ? named(timeColumn) : "NULL"} AS text,
				CASE WHEN ${word} IN ${truths} THEN true WHEN ${word} IN ${falsehoods} THEN false END AS value
			FROM ${table.sql}`);
	} catch (error) {
		throw await explainDelimited(table, error);
	}
	const refuse = async (condition: string, what: string) => {
		const [bad] = await store.all<{ row: number }>(
			`SELECT min(rowid) + 1 AS row FROM given WHERE ${condition}`,
		);
		if (bad?.row == null) return;
		throw new InputError(`${file}: line ${await lineOfRow(table, bad.row)} ${what}`);
	};
	await refuse("key IS NULL OR key = ''", "names no patient; expected an id");
	await refuse("value IS NULL", "has no value; expected true or false, 1 or 0");
	const forms = axis === "dates" ? "a date such as 2019-05-31" : "a number of days";
	if (timeColumn) await refuse("day IS NULL", `has no time that can be read; expected ${forms}`);
	await refuse(
		"(key, coalesce(day, 0)) IN (SELECT (key, coalesce(day, 0)) FROM given GROUP BY key, day HAVING min(value) <> max(value))",
		"contradicts another line about the same patient and time; keep one of the two",
	);
	await store.run(`
		CREATE OR REPLACE TABLE asked AS
		SELECT DISTINCT cohort.number AS patient, given.day, value
		FROM given JOIN patient USING (key) JOIN cohort USING (id)`);
	await store.run(`
		INSERT INTO label
		SELECT ${quoted(task)}, patient, coalesce(any_value(asked.day), max(final.day)),
			(count(*) FILTER (asked.day IS NULL OR final.day <= asked.day))::INTEGER AS events,
			any_value(value)
		FROM final JOIN asked USING (patient)
		GROUP BY patient, asked.day HAVING events > 0 ORDER BY patient, asked.day`);
	const [counts] = await store.all<{ given: number; asked: number; strangers: number }>(`
		SELECT (SELECT count(*) FROM given) AS given, (SELECT count(*) FROM asked) AS asked,
			(SELECT count(*) FROM given ANTI JOIN patient USING (key)) AS strangers`);
	const summary = await summarized(store, task, `given in ${file}`, {
		"no event before the question": 0,
	});
	const unseen = (counts?.asked ?? 0) - summary.labels;
	const outside = (counts?.given ?? 0) - (counts?.asked ?? 0);
	const notes =
		outside > 0
			? [
					`${file}: ${outside} of ${counts?.given} labels are of patients outside the dataset (${counts?.strangers} of them without any record) or repeat another: left out`,
				]
			: [];
	await store.run("DROP TABLE given");
	await store.run("DROP TABLE asked");
	return {
		summary: { ...summary, excluded: unseen > 0 ? { "no event before the question": unseen } : {} },
		notes,
	};
}
