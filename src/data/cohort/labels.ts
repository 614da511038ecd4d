import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { readColumns } from "./dataset-files.js";
import {
	heartFailureDays,
	insulinDays,
	labelRules,
	labelsOfTask,
	taskOfLabels,
} from "./label-rules.js";
import type { Filters, Manifest } from "./manifest.js";

/** The label of a patient at one time. */
export interface Label {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** The prediction time in days. */
	readonly time: number;
	/** How many of the patient's events the model may see, the birth event not counted. */
	readonly events: number;
	readonly value: boolean;
	/** How many patients it stands for: more than one where others were censored. 1 if left out. */
	readonly weight?: number;
}

type LabelSummary = Manifest["labels"][number];

/** Creates table `marked` (patient, day, ord, what) of the records of the dataset's patients that label rules use. */
export const markRecords = (store: Store): Promise<void> =>
	store.run(`
		CREATE TABLE marked AS
		SELECT cohort.number AS patient, coded.time AS day, ord, what
		FROM coded JOIN mark ON mark.code = coded.code JOIN cohort ON cohort.id = coded.patient`);

export const labelTable = `
	CREATE TABLE label (task VARCHAR, patient INTEGER, day DOUBLE, events INTEGER, value BOOLEAN)`;

/**
 * Creates table `label` (task, patient, day, events, value) by the rules for which the source has records. Reads
 * `final` (patient, time, rank, ord …) and `marked`, which has dropped codes too.
 */
export async function makeLabels(store: Store, drugs: Filters["drugs"]): Promise<LabelSummary[]> {
	await store.run(labelTable);
	const there = await store.all<{ what: string }>("SELECT DISTINCT what FROM marked");
	const marks = new Set(there.map(({ what }) => what));
	const summaries: LabelSummary[] = [];
	if (marks.has("insulin") && marks.has("diabetes"))
		summaries.push(
			await label(store, "insulin", labelRules.insulin, insulinCases(drugs === "tokens")),
		);
	if (marks.has("heart-failure"))
		summaries.push(await label(store, "chf", labelRules.chf, heartFailureCases));
	return summaries;
}

/** The last record of each patient, kept or not. Joins never use conditions on time, which are slow in DuckDB. */
const lastDays = "SELECT number AS patient, last AS day FROM cohort JOIN patient USING (id)";

/**
 * Rows (patient, day, events, value); a row with a `reason` has no label. The rule counts whole days, because a
 * prescription and a diagnosis of the same day rarely have comparable times. If drugs are tokens, insulin before
 * the diagnosis on that day would reveal the label.
 */
const insulinCases = (drugsAreTokens: boolean) => `
	WITH onset AS (
		SELECT patient, min({'day': day, 'ord': ord}) AS at FROM marked
		WHERE what = 'diabetes' GROUP BY patient
	), started AS (
		SELECT patient, min(day) AS day FROM marked WHERE what = 'insulin' GROUP BY patient
	), last AS (${lastDays}), seen AS (
		SELECT patient, (count(*) FILTER (final.time < onset.at.day
			OR (final.time = onset.at.day AND final.rank = 0 AND final.ord <= onset.at.ord)))::INTEGER AS events
		FROM final JOIN onset USING (patient) GROUP BY patient
	)
	SELECT onset.patient, onset.at.day AS day, events,
		coalesce(floor(started.day) <= floor(onset.at.day) + ${insulinDays}, false) AS value,
		CASE WHEN floor(started.day) < floor(onset.at.day)
				THEN 'insulin before the day of the first diabetes record'
			WHEN ${drugsAreTokens} AND started.day < onset.at.day
				THEN 'insulin among the events before the first diabetes record of that day'
			WHEN NOT value AND floor(last.day) < floor(onset.at.day) + ${insulinDays}
				THEN 'no insulin, and less than ${insulinDays} days of records afterwards'
			WHEN events = 0 THEN 'no event before the question' END AS reason
	FROM onset JOIN seen USING (patient) JOIN last USING (patient) LEFT JOIN started USING (patient)`;

const heartFailureCases = `
	WITH failing AS (
		SELECT DISTINCT patient, floor(day) AS day FROM marked WHERE what = 'heart-failure'
	), pairs AS (
		SELECT patient, day, lead(day) OVER (PARTITION BY patient ORDER BY day) - day AS gap FROM failing
	), cases AS (
		SELECT patient, min(day) AS day, min(gap) <= ${heartFailureDays} AS twice
		FROM pairs GROUP BY patient
	), last AS (${lastDays}), labelled AS (
		SELECT last.patient, coalesce(cases.day, floor(last.day)) AS day,
			cases.patient IS NOT NULL AS value, coalesce(twice, false) AS twice
		FROM last LEFT JOIN cases USING (patient)
	), seen AS (
		SELECT patient, (count(*) FILTER (final.time < labelled.day))::INTEGER AS events
		FROM final JOIN labelled USING (patient) GROUP BY patient
	)
	SELECT labelled.patient, labelled.day, events, value,
		CASE WHEN value AND NOT twice THEN 'heart failure recorded, but not twice within the time'
			WHEN events = 0 THEN 'no event before the question' END AS reason
	FROM labelled JOIN seen USING (patient)`;

async function label(store: Store, task: string, rule: string, cases: string) {
	await store.run(`CREATE OR REPLACE TABLE labelled AS ${cases}`);
	await store.run(`
		INSERT INTO label SELECT ${quoted(task)}, patient, day, events, value
		FROM labelled WHERE reason IS NULL ORDER BY patient, day`);
	const excluded = await store.all<{ reason: string; n: number }>(
		"SELECT reason, count(*) AS n FROM labelled WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason",
	);
	await store.run("DROP TABLE labelled");
	return {
		task,
		rule,
		...(await countLabels(store, task)),
		excluded: Object.fromEntries(excluded.map(({ reason, n }) => [reason, n])),
	};
}

/** How many labels a task has in table `label`. */
export async function countLabels(store: Store, task: string) {
	const [count] = await store.all<{ labels: number; positive: number }>(`
		SELECT count(*) AS labels, count(*) FILTER (value) AS positive
		FROM label WHERE task = ${quoted(task)}`);
	return count;
}

/** Reads the labels of a task. */
export async function readLabels(folder: string, { labels }: Manifest, task: string) {
	const stored = labelsOfTask(task);
	if (!labels.some((known) => known.task === stored))
		throw new InputError(
			`${folder} has no labels for the task "${task}"; it has ${labels.map((known) => taskOfLabels(known.task)).join(", ") || "none"}; give some to prepare with \`trajgpt prepare --label ${task}=FILE\``,
			{ field: "task", value: task },
		);
	const file = join(folder, "labels.parquet");
	const { task: tasks, ...columns } = await readColumns(file, () => ({
		task: [] as string[],
		patient: [] as number[],
		time: [] as number[],
		events: [] as number[],
		value: [] as boolean[],
	}));
	return tasks.flatMap((name, row) =>
		name === stored
			? {
					patient: columns.patient[row],
					time: columns.time[row],
					events: columns.events[row],
					value: columns.value[row],
				}
			: [],
	);
}
