import { basename, resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import type { Dataset } from "../cohort/index.js";
import type { LabelDefinition } from "../cohort/label-definition.js";
import { labelsOfTask } from "../cohort/label-rules.js";
import { notesFor } from "../records/bad-rows.js";
import { type Column, quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openTable, stageRows } from "../records/table.js";
import { columnOf, noColumn } from "../records/tables/columns.js";
import { daysOf, isBadTime, plainText } from "../records/tables/values.js";
import type { Exclusion, Extracted } from "./extract.js";
import { datasetTable, fromDays, type TaskRecords } from "./records.js";

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

/** What the labels of OMOP cohorts mean. */
export const definitionOfCohorts = ({
	file,
	target,
	outcome,
	atRisk,
}: CohortTask): LabelDefinition => ({
	what: `cohort ${outcome} beginning ${atRisk[0]} to ${atRisk[1]} days after the start of cohort ${target}, in patients without it before`,
	source: `OMOP cohorts ${target} and ${outcome} of ${basename(file)}`,
	horizonDays: atRisk[1],
});

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

/**
 * Creates table `task_label` of the labels that a dataset has for a task. A label says how many events a model may see;
 * its prediction time is the label's own, or, where further events lie before that, just before the first of them.
 */
export async function storedLabels(
	store: Store,
	dataset: Dataset,
	task: string,
): Promise<Extracted> {
	const stored = await dataset.labels(task);
	const { folder, manifest } = dataset;
	if (manifest.source.axis !== "dates")
		throw new InputError(
			`labels in MEDS need dates, and ${folder} has days alone; its labels are in labels.parquet`,
		);
	await store.create("stored_label", "patient INTEGER, time DOUBLE, events INTEGER, value INTEGER");
	await store.append(
		"stored_label",
		stored.map(({ value, ...label }) => ({ ...label, value: Number(value) })),
	);
	await store.run(`
		CREATE OR REPLACE TABLE seen_label AS
		WITH numbered AS (
			SELECT patient, ${fromDays("time")} AS moment,
				row_number() OVER (PARTITION BY patient ORDER BY file_row_number) AS nth
			FROM ${datasetTable(dataset, "events.parquet")})
		SELECT label.*, max(moment) FILTER (nth <= events) AS seen, min(moment) FILTER (nth > events) AS next
		FROM stored_label AS label JOIN numbered USING (patient) GROUP BY ALL`);
	await store.run(`
		CREATE OR REPLACE TABLE task_label AS
		SELECT id AS subject, value::BOOLEAN AS value,
			greatest(seen, least(${fromDays("time")}, coalesce(next - 1, ${fromDays("time")}))) AS moment
		FROM seen_label JOIN (FROM ${datasetTable(dataset, "patients.parquet")})
			ON patient = file_row_number
		ORDER BY patient, time`);
	const shared = await store.count("seen_label WHERE next <= seen");
	const { excluded = {} } =
		manifest.labels.find((known) => known.task === labelsOfTask(task)) ?? {};
	return {
		subjects: await store.count("(SELECT DISTINCT patient FROM seen_label)"),
		triggers: stored.length,
		excluded: Object.entries(excluded).map(([reason, count]) => ({ at: "prepare", reason, count })),
		notes: notesFor([
			[
				shared,
				`${shared} labels let a model see some events of a time and not others; in MEDS it sees all events of that time`,
			],
		]),
	};
}

/** A code of the input whose presence (or absence) nearly determines the label. */
export interface DeterminingCode {
	readonly code: string;
	readonly when: "present" | "absent";
	/** Labels with this code in the input (or without it), and how many of them are positive. */
	readonly labels: number;
	readonly positive: number;
	/** All positive labels. */
	readonly positives: number;
}

/** Of positive labels found, of those found positive, and of negative labels not found. */
const nearlyAll = 0.9;
const fewest = 5;
/** Labels that are looked at. */
const sampleSize = 50_000;

/**
 * Codes recorded up to the prediction time that predict the label with near certainty: precision, recall and
 * specificity are at least 0.9. Reads view `item` and table `task_label`.
 */
export async function determiningCodes(store: Store): Promise<DeterminingCode[]> {
	await store.run(`
		CREATE OR REPLACE TABLE label_sample AS SELECT subject, moment, value FROM task_label
		WHERE value IS NOT NULL ORDER BY hash(subject, moment), subject, moment LIMIT ${sampleSize}`);
	const [all] = await store.all<{ labels: number; positives: number }>(
		"SELECT count(*) AS labels, count(*) FILTER (value) AS positives FROM label_sample",
	);
	const { labels, positives } = all ?? { labels: 0, positives: 0 };
	if (positives < fewest || labels - positives < fewest) return [];
	await store.run(`
		CREATE OR REPLACE TABLE first_record AS
		SELECT subject, code, min(coalesce(moment, -9e18::BIGINT)) AS first
		FROM item SEMI JOIN label_sample USING (subject) GROUP BY subject, code`);
	const codes = await store.all<{ code: string; labels: number; positive: number }>(`
		SELECT code, count(*) AS labels, count(*) FILTER (value) AS positive
		FROM label_sample JOIN first_record USING (subject)
		WHERE first <= moment GROUP BY code ORDER BY positive DESC, code`);
	const isCertain = (count: number, positive: number) =>
		count > 0 &&
		positive / count >= nearlyAll &&
		positive / positives >= nearlyAll &&
		1 - (count - positive) / (labels - positives) >= nearlyAll;
	return codes.flatMap(({ code, ...present }): DeterminingCode[] => {
		const without = { labels: labels - present.labels, positive: positives - present.positive };
		if (isCertain(present.labels, present.positive))
			return [{ code, when: "present", ...present, positives }];
		if (isCertain(without.labels, without.positive))
			return [{ code, when: "absent", ...without, positives }];
		return [];
	});
}
