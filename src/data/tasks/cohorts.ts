import { InputError } from "../../base/errors.js";
import type { Column } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openTable, stageRows } from "../records/table.js";
import { columnOf, noColumn } from "../records/tables/columns.js";
import { daysOf, isBadTime, plainText } from "../records/tables/values.js";
import type { Exclusion, Extracted } from "./extract.js";
import type { TaskRecords } from "./records.js";

/** Cohorts as OMOP tables, and the time at risk, as in PatientLevelPrediction. */
export interface CohortTask {
	/** A table cohort_definition_id, subject_id, cohort_start_date, cohort_end_date: CSV or Parquet. */
	readonly file: string;
	/** The cohort whose members get labels, and the one that makes them positive. */
	readonly target: number;
	readonly outcome: number;
	/** The first and last day at risk, counted from the start of the target cohort. */
	readonly atRisk: readonly [first: number, last: number];
	/** Days at risk that somebody without the outcome must have, the first not counted. */
	readonly minAtRisk: number;
}

const columns = ["cohort_definition_id", "subject_id", "cohort_start_date"] as const;

/** SQL for the last microsecond of a day. */
const endOfDay = (day: string) => `(${day} + 1) * 86400000000 - 1`;

/**
 * Labels at the start of each entry into the target cohort, its whole day included: does the outcome begin in the time
 * at risk? Entries with an earlier outcome are removed, and those without the outcome that are not observed for long
 * enough. Reads view `item`, if the records have no periods of their own.
 */
export async function labelCohorts(
	store: Store,
	records: TaskRecords,
	task: CohortTask,
): Promise<Extracted> {
	if (records.axis !== "dates")
		throw new InputError(
			`${records.path} has days without dates, and cohorts have dates; prepare the records with their dates`,
		);
	await readCohorts(store, task.file);
	for (const [what, id] of [
		["target", task.target],
		["outcome", task.outcome],
	] as const)
		if ((await store.count(`cohort_entry WHERE cohort = ${id}`)) === 0) {
			const there = await store.all<{ cohort: number }>(
				"SELECT DISTINCT cohort FROM cohort_entry ORDER BY cohort LIMIT 20",
			);
			throw new InputError(
				`${task.file} has no entry of cohort ${id}, the ${what}; it has ${there.map(({ cohort }) => cohort).join(", ") || "no entries"}`,
				{ field: what, value: id },
			);
		}
	await records.view(store, []);
	await store.run(`CREATE OR REPLACE TABLE observed AS ${records.observed}`);
	const [first, last] = task.atRisk;
	// Joins are by subject alone: conditions on time are slow in joins, and fast afterwards.
	await store.run(`
		CREATE OR REPLACE TABLE cohort_label AS
		WITH entry AS (
			SELECT DISTINCT subject, start FROM cohort_entry WHERE cohort = ${task.target}
		), period AS (
			SELECT entry.subject, entry.start, max(observed.last) AS last,
				bool_or(observed.subject IS NOT NULL) AS known
			FROM entry LEFT JOIN observed ON observed.subject = entry.subject
			WHERE observed.subject IS NULL OR (observed.first <= entry.start AND entry.start <= observed.last)
			GROUP BY entry.subject, entry.start
		), outcome AS (
			SELECT entry.subject, entry.start,
				count(*) FILTER (cohort_entry.start < entry.start + ${first}) > 0 AS before,
				min(cohort_entry.start) FILTER (cohort_entry.start >= entry.start + ${first}) AS begins
			FROM entry JOIN cohort_entry ON cohort_entry.subject = entry.subject
			WHERE cohort = ${task.outcome} GROUP BY entry.subject, entry.start
		)
		SELECT subject, start, least(start + ${last}, period.last) AS ends,
			coalesce(begins <= ends, false) AS value,
			CASE WHEN known IS NULL THEN 'not observed on the day of entry'
				WHEN NOT known THEN 'not among the records'
				WHEN before THEN 'outcome before the time at risk'
				WHEN start + ${first} > period.last THEN 'no time at risk'
				WHEN NOT value AND ends - (start + ${first}) < ${task.minAtRisk}
					THEN 'fewer than ${task.minAtRisk} days at risk' END AS reason
		FROM entry LEFT JOIN period USING (subject, start) LEFT JOIN outcome USING (subject, start)`);
	const excluded = await store.all<{ reason: string; count: number }>(
		"SELECT reason, count(*) AS count FROM cohort_label WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason",
	);
	await store.run(`
		CREATE OR REPLACE TABLE task_label AS
		SELECT subject, CAST(${endOfDay("start")} AS BIGINT) AS moment, value FROM cohort_label
		WHERE reason IS NULL ORDER BY subject, start`);
	return {
		subjects: await store.count("(SELECT DISTINCT subject FROM cohort_label)"),
		triggers: await store.count("cohort_label"),
		excluded: excluded.map(({ reason, count }): Exclusion => ({ at: "target", reason, count })),
		notes: [],
	};
}

/** Creates table `cohort_entry` (cohort, subject, start in days since 1970-01-01). */
async function readCohorts(store: Store, file: string): Promise<void> {
	const table = await openTable(store, file);
	const [cohort, subject, start] = columns.map((wanted) => {
		const column = columnOf(table, [wanted]);
		if (column) return column;
		const expected = `the OMOP table cohort: ${columns.join(", ")}, cohort_end_date`;
		throw noColumn(table, wanted, expected);
	}) as [Column, Column, Column];
	const staged = {
		cohort: `try_cast(${plainText(cohort, "whole")} AS BIGINT)`,
		subject: plainText(subject, "whole"),
		start: `floor(${daysOf(start, "date")})`,
	};
	await stageRows(store, table, "cohort_entry", staged, {
		reads: [cohort, subject, start],
		faults: [
			{
				when: "cohort IS NULL",
				say: () => " has no cohort_definition_id; expected a whole number",
			},
			{
				when: "coalesce(subject, '') = ''",
				say: () => " has no subject_id; expected the id of a patient",
			},
			{
				when: isBadTime("start", "date"),
				say: () => " has no cohort_start_date that can be read; expected a date such as 2019-05-31",
			},
		],
	});
}
