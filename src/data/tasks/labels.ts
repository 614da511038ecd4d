import { resolve } from "node:path";
import { InputError } from "../../base/errors.js";

import type { Dataset } from "../cohort/index.js";
import { labelsOfTask } from "../cohort/label-rules.js";
import { notesFor } from "../records/bad-rows.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import type { Extracted } from "./extract.js";
import { datasetTable, fromDays } from "./records.js";

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
	await store.create("stored_label", {
		patient: "whole",
		time: "number",
		events: "whole",
		value: "whole",
	});
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
