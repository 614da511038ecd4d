import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { InputError } from "../../base/errors.js";
import { refuseRepeatedKey } from "../../base/json-keys.js";
import { notesFor } from "../records/bad-rows.js";
import { parquetIn } from "../records/meds/layout.js";
import type { TimeIs } from "../records/rows.js";
import { type Column, quoted, type Table } from "../records/sql.js";
import { parquetRows, type Store, withStore } from "../records/store.js";
import { openTable, rowOfFile, withNumberedRows } from "../records/table.js";
import { isAge, statedUnit, timeNames } from "../records/tables/column-names.js";
import { columnOf } from "../records/tables/columns.js";
import {
	daysBeside,
	isBadTime,
	isDated,
	plainText,
	rawText,
	recordUnit,
	type UnitBeside,
	unitBeside,
} from "../records/tables/values.js";
import type { Dataset } from "./dataset.js";
import { type LabelDefinition, labelDefinition } from "./label-definition.js";
import { isTaskName, labelRules, reservedTasks, taskNameRule } from "./label-rules.js";
import { countLabels, type Label, labelTable } from "./labels.js";
import { type Manifest, type Split, splitNames } from "./manifest.js";
import { patientColumns, readGivenSplits, requiredColumn } from "./people.js";
import { type LabelTimes, labelTimesWarnings, type RecordRange } from "./plausible-times.js";

/** Labels from a CSV or Parquet file or a folder of MEDS label files, with column names of MEDS or plain ones. */
export interface UserLabels {
	readonly task: string;
	readonly file: string;
}

const columnNames = {
	time: `prediction_time prediction_datetime prediction_date time date time_minutes time_hours time_days
		index_time index_date landmark landmark_time landmark_date anchor_time anchor_date
		label_time label_date`.split(/\s+/),
	value: ["boolean_value", "value", "label"],
} as const;

const truths = "('1', 'true', 't', 'yes', 'y', 'positive')";
const falsehoods = "('0', 'false', 'f', 'no', 'n', 'negative')";

/** The files of labels: one file, or all Parquet files below a folder, as MEDS has them. */
export async function filesOf(path: string): Promise<readonly string[]> {
	const isFolder = await stat(path).then(
		(status) => status.isDirectory(),
		() => false, // reading the file says why
	);
	if (!isFolder) return [path];
	const files = await parquetIn(path);
	if (files.length > 0) return files;
	throw new InputError(
		`${path} holds no .parquet file; expected a file of labels, or a folder of MEDS label files`,
	);
}

/** The unit of the labels of a dataset. Before datasets named the unit of their records, numbers could have any. */
export function labelUnitOf(
	{ manifest: { source }, folder }: Dataset,
	labelTimeIs: TimeIs | undefined,
): UnitBeside {
	const { axis, format } = source;
	const isUnknown = !("times" in source) && axis === "days" && format !== "events";
	if (isUnknown && labelTimeIs === undefined)
		return {
			unit: "days",
			option: "labelTimeIs",
			isNamed: false,
			unknown: `${folder} was prepared by an earlier version and does not say in which unit its times were read; name that of the labels with \`labelTimeIs\`, or prepare the dataset again`,
		};
	const records = isUnknown ? (labelTimeIs as TimeIs) : recordUnit(source);
	return unitBeside(records, "labelTimeIs", labelTimeIs);
}

/**
 * Reads a file or folder of labels into table `given` (key, day, value), and refuses rows that are wrong. Tells whether
 * the labels have times.
 */
async function readGiven(store: Store, path: string, beside: UnitBeside): Promise<boolean> {
	const { unit } = beside;
	await store.run(
		"CREATE OR REPLACE TABLE given (file INTEGER, row BIGINT, key VARCHAR, day DOUBLE, value BOOLEAN)",
	);
	const tables: Table[] = [];
	for (const file of await filesOf(path)) {
		const table = await openTable(store, file);
		await withNumberedRows(store, table, table.columns, (rows) =>
			store.run(
				`INSERT INTO given SELECT ${tables.length}, * FROM (${givenSql(table, beside, rows)})`,
			),
		);
		tables.push(table);
	}
	const refuse = async (condition: string, what: string) => {
		const [bad] = await store.all<{ file: number; row: number }>(
			`SELECT file, row FROM given WHERE ${condition} ORDER BY file, row LIMIT 1`,
		);
		if (bad) throw new InputError(`${await tables[bad.file]?.places([bad.row])} ${what}`);
	};
	await refuse("key IS NULL OR key = ''", "names no patient; expected an id");
	await refuse("value IS NULL", "has no value; expected true or false, 1 or 0");
	const forms = unit === "date" ? "a date such as 2019-05-31" : `a number (${unit})`;
	const isTimed = tables.some((table) => columnOf(table, columnNames.time));
	if (isTimed)
		await refuse(isBadTime("day", unit), `has no time that can be read; expected ${forms}`);
	else if (beside.isNamed)
		throw new InputError(
			`${path} has no column for the time, but \`labelTimeIs\` is ${unit}; call the column time, or leave out \`labelTimeIs\``,
			{ field: "labelTimeIs", value: unit },
		);
	await refuse(
		"(key, coalesce(day, 0)) IN (SELECT (key, coalesce(day, 0)) FROM given GROUP BY key, day HAVING min(value) <> max(value))",
		"contradicts another line about the same patient and time; keep one of the two",
	);
	return isTimed;
}

/** SQL for the labels of a table. */
function givenSql(table: Table, beside: UnitBeside, numberedRows: string): string {
	const patient = requiredColumn(table, "patient", patientColumns);
	const value = requiredColumn(table, "value", columnNames.value);
	const time = columnOf(table, columnNames.time);
	const likely = table.columns.find((column) => isLikelyTime(column, beside))?.name;
	if (!time && likely !== undefined)
		throw new InputError(
			`${table.file}: column ${likely} may be the time of the labels, but is not called so; call it time, or something else if it is none: labels without a time see every event`,
			{ field: "labels", value: table.file },
		);
	const day = time ? daysBeside(time, beside) : "NULL::DOUBLE";
	const word = `lower(${value.type === "BOOLEAN" ? rawText(value) : plainText(value, "whole")})`;
	return `
		SELECT ${rowOfFile} AS row, ${plainText(patient, "whole")} AS key, ${day} AS day,
			CASE WHEN ${word} IN ${truths} THEN true WHEN ${word} IN ${falsehoods} THEN false END AS value
		FROM ${numberedRows}`;
}

/** Whether a column may be the time. A birth never is, and an age only where the times of the records are ages. */
function isLikelyTime(column: Column, { unit, unknown }: UnitBeside): boolean {
	const name = column.name.trim().toLowerCase();
	if (/birth|^[dy]ob$/.test(name)) return false;
	if (/(^|_)age(_|$)|^age(at|in|days|years)/.test(name))
		return isAge(unit) || unknown !== undefined;
	return (
		/date|time|landmark|index|cutoff|week|month|seconds?$|^dt$|_at$/.test(name) ||
		isDated(column) ||
		statedUnit(name) !== undefined ||
		timeNames(true).some((names) => names.includes(name))
	);
}

/**
 * Adds the labels of a file or folder to table `label`, and refuses labels none of which can be used. The model may see
 * the history up to and including the time of a label, or all of it if there is no time. The other tables are those of
 * `prepare`, or hold the patients of a dataset alone.
 */
export async function addUserLabels(
	store: Store,
	{ task, file }: UserLabels,
	{ unit, ...beside }: UnitBeside,
	patientsAre: "of the records" | "of the dataset" = "of the records",
) {
	const isTimed = await readGiven(store, file, { unit, ...beside });
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
	const ofRecords = patientsAre === "of the records";
	const rows = ofRecords ? "given" : "(SELECT DISTINCT key, day, value FROM given)";
	const statedLabels = await store.count(rows);
	const used = await store.count("labelled");
	const strangers = await store.count("given ANTI JOIN patient USING (key)");
	const { labels, positive } = await countLabels(store, task);
	const [outside, unseen] = [statedLabels - used, used - labels];
	if (labels === 0)
		throw new InputError(
			statedLabels === 0
				? `${file} holds no labels; expected a line per label: patient, time, value`
				: `${file}: none of its ${statedLabels} labels can be used: ${outside} are of patients outside the dataset, ${unseen} have no event up to their time; check that both name patients alike, and the times${unseen > 0 && unit !== "date" ? `, which were read in ${unit} (\`labelTimeIs\`)` : ""}`,
			{ field: "labels", value: file },
		);
	const summary: Manifest["labels"][number] = {
		task,
		rule: `given in ${file}`,
		labels,
		positive,
		excluded: unseen > 0 ? { "no event before the question": unseen } : {},
		definition: await definitionBeside(file, task),
	};
	const outsiders = ` (${strangers} of them without any record) or repeat another`;
	const notes = notesFor([
		[
			outside,
			`${file}: ${outside} of ${statedLabels} labels are of patients outside the dataset${ofRecords ? outsiders : ""}: left out`,
		],
		[unseen, `${file}: ${unseen} labels have no event up to their time: left out`],
		[isTimed ? 0 : 1, `${file} has no time: each label sees all events of its patient`],
	]);
	const [times] = await store.all<Record<keyof LabelTimes, number>>(`
		SELECT count(*) AS labels, ${unseen}::INTEGER AS unseen, count(*) FILTER (day > last + 1) AS late, min(day) AS first, max(last) AS last
		FROM label JOIN (SELECT patient, max(time) AS last FROM final GROUP BY patient) USING (patient)
		WHERE task = ${quoted(task)}`);
	const range = async () => {
		const [row] = await store.all<Record<keyof RecordRange, number>>(
			"SELECT min(time) AS first, max(time) AS last FROM final",
		);
		return row;
	};
	const warnings = await labelTimesWarnings(file, times, unit, range);
	await store.run("DROP TABLE given");
	await store.run("DROP TABLE labelled");
	return { summary, isTimed, notes, warnings };
}

const labelMemory = 2 ** 30;

/** Labels for a dataset that exists. */
export interface LabelsOfDataset extends UserLabels {
	/** The unit of their times, if it is not that of the dataset's records. */
	readonly labelTimeIs?: TimeIs | undefined;
}

/**
 * A dataset with further labels, from a file or folder, for one task. The dataset on disk does not change.
 *
 * @example
 * const { dataset } = await withLabels(await openDataset("data"), { task: "stroke", file: "labels/stroke" });
 */
export async function withLabels(dataset: Dataset, { task, file, labelTimeIs }: LabelsOfDataset) {
	const { manifest } = dataset;
	if (!isTaskName(task))
		throw new InputError(
			`the task is called "${task}"; expected ${taskNameRule}: give those labels another name with \`task\``,
			{ field: "task", value: task },
		);
	if (
		reservedTasks.includes(task) ||
		Object.hasOwn(labelRules, task) ||
		manifest.labels.some((known) => known.task === task)
	)
		throw new InputError(
			`the task "${task}" has other labels in ${dataset.folder}; give those of ${file} another name with \`task\``,
			{ field: "task", value: task },
		);
	const beside = labelUnitOf(dataset, labelTimeIs);
	const [patients, events] = ["patients.parquet", "events.parquet"].map((name) =>
		join(dataset.folder, name),
	);
	const files = [...(await filesOf(file)), patients, events];
	return withStore({ memory: labelMemory, files }, async (store) => {
		await store.run(
			`CREATE TABLE patient AS SELECT file_row_number AS id, id AS key FROM ${parquetRows(patients)}`,
		);
		await store.run("CREATE VIEW cohort AS SELECT id, id AS number FROM patient");
		await store.run(`CREATE VIEW final AS FROM ${parquetRows(events)}`);
		await store.run(labelTable);
		const added = await addUserLabels(store, { task, file }, beside, "of the dataset");
		const labels = await store.all<Omit<Label, "weight">>(
			"SELECT patient, day AS time, events, value FROM label ORDER BY patient, day",
		);
		return {
			dataset: {
				...dataset,
				manifest: { ...manifest, labels: [...manifest.labels, added.summary] },
				labels: async (name: string) => (name === task ? labels : dataset.labels(name)),
				labelFiles: { ...dataset.labelFiles, [task]: file },
			},
			notes: added.notes,
			warnings: added.warnings,
		};
	});
}

/** The time of a label that sees an event, and of the last record of its patient. */
export interface SeenLabel {
	readonly time: number;
	readonly lastRecord: number;
}

/** Checks the times of labels of a dataset. */
export function labelWarnings(
	dataset: Dataset,
	file: string,
	seen: readonly SeenLabel[],
	unseen: number,
	unit: TimeIs,
): Promise<string[]> {
	const times = {
		labels: seen.length,
		unseen,
		late: seen.filter(({ time, lastRecord }) => time > lastRecord + 1).length,
		first: seen.reduce((first, { time }) => Math.min(first, time), Number.POSITIVE_INFINITY),
		last: seen.reduce((last, label) => Math.max(last, label.lastRecord), Number.NEGATIVE_INFINITY),
	};
	const range = async () => {
		let [first, last] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
		for (const split of splitNames)
			for await (const { times, birthEvents } of dataset.histories(split)) {
				first = Math.min(first, times[birthEvents] ?? first);
				last = Math.max(last, times.at(-1) ?? last);
			}
		return { first, last };
	};
	return labelTimesWarnings(file, times, unit, range);
}

/** A label as it is given. */
export type GivenLabel = {
	/** The id of the patient. */
	readonly key: string;
	/** In days; null if the label has no time. */
	readonly day: number | null;
	readonly value: boolean;
};

/** The labels of a file or folder; with `within`, those of the patients that a file puts into a split. */
export async function givenLabels(
	path: string,
	beside: UnitBeside,
	within?: { readonly splitsFrom: string; readonly split: Split },
): Promise<GivenLabel[]> {
	const files = [...(await filesOf(path)), ...(within ? [within.splitsFrom] : [])];
	return withStore({ memory: labelMemory, files }, async (store) => {
		await readGiven(store, path, beside);
		if (within) await readGivenSplits(store, within.splitsFrom);
		return store.all<GivenLabel>(`
			SELECT DISTINCT key, day, value FROM given
			${within ? `SEMI JOIN (SELECT key FROM given_split WHERE split = ${quoted(within.split)}) USING (key)` : ""}
			ORDER BY ALL`);
	});
}

/** The file beside labels that `trajgpt tasks` wrote. */
export const taskMarker = "trajgpt-task.json";

/** The definition of the labels of a file or folder: the one that `trajgpt tasks` left beside them, or their name. */
export async function definitionBeside(path: string, task: string): Promise<LabelDefinition> {
	const file = [path, dirname(path)]
		.map((folder) => join(folder, taskMarker))
		.find((place) => existsSync(place));
	const parsed =
		file === undefined ? undefined : labelDefinition.safeParse(await definitionIn(file));
	return (
		parsed?.data ?? {
			what: `a positive label of task ${task}, as its labels define it`,
			source: `labels file ${basename(path)}`,
		}
	);
}

async function definitionIn(file: string): Promise<unknown> {
	const text = await readFile(file, "utf8").catch(() => "");
	let json: { readonly definition?: unknown } | null;
	try {
		json = JSON.parse(text);
	} catch {
		return undefined; // labels need no definition
	}
	refuseRepeatedKey(text, file);
	return json?.definition;
}
