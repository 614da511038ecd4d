import { resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { dayMicroseconds } from "../../base/time.js";
import type { Dataset } from "../cohort/index.js";
import { labelsOfTask } from "../cohort/label-rules.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import type { Extracted, Labels } from "./extract.js";

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

const momentOf = (day: number) => Math.round(day * dayMicroseconds);

/**
 * The labels that a dataset has for a task. A label says how many events a model may see; its prediction time is the
 * label's own, or, where further events lie before that, just before the first of them.
 */
export async function storedLabels(dataset: Dataset, task: string): Promise<Extracted> {
	const stored = [...(await dataset.labels(task))].sort((a, b) => a.patient - b.patient);
	if (dataset.manifest.source.axis !== "dates")
		throw new InputError(
			`labels in MEDS need dates, and ${dataset.folder} has days alone; its labels are in labels.parquet`,
		);
	const labels: Labels = { subjects: [], times: [], values: [] };
	let shared = 0;
	for (const { patient, time, events, value } of stored) {
		const { times, birthEvents } = await dataset.read(patient);
		const last = momentOf(times[birthEvents + events - 1] as number);
		const next = times[birthEvents + events];
		const unseen = next === undefined ? Number.POSITIVE_INFINITY : momentOf(next);
		if (unseen <= last) shared++;
		labels.subjects.push(dataset.idOf(patient));
		labels.times.push(Math.max(last, Math.min(momentOf(time), unseen - 1)));
		labels.values.push(value);
	}
	const { excluded = {} } =
		dataset.manifest.labels.find((known) => known.task === labelsOfTask(task)) ?? {};
	return {
		labels,
		subjects: new Set(labels.subjects).size,
		triggers: stored.length,
		excluded: Object.entries(excluded).map(([reason, count]) => ({ at: "prepare", reason, count })),
		notes:
			shared > 0
				? [
						`${shared} labels let a model see some events of a time and not others; in MEDS it sees all events of that time`,
					]
				: [],
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
