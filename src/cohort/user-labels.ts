import { mkdtemp, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../base/errors.js";
import type { TimeAxis } from "../base/time.js";
import { temporarily } from "../files/index.js";
import { parquetIn } from "../records/meds/layout.js";
import { notesFor } from "../records/notes.js";
import { quoted } from "../records/sql.js";
import { openStore, type Store } from "../records/store.js";
import { openTable, reading, type Table } from "../records/table.js";
import { columnOf, listed } from "../records/tables/columns.js";
import { daysOf, isBadTime, plainText, rawText } from "../records/tables/values.js";
import type { Dataset } from "./dataset.js";
import { definitionBeside } from "./definition-beside.js";
import { patientColumns, readGivenSplits } from "./given-splits.js";
import { isTaskName, labelRules, reservedTasks, taskNameRule } from "./label-rules.js";
import { type Label, summarized } from "./labels.js";
import { type Manifest, type Split, splitNames } from "./manifest.js";

/** Labels from a CSV or Parquet file or a folder of MEDS label files, with column names of MEDS or plain ones. */
export interface UserLabels {
	readonly task: string;
	readonly file: string;
}

const columnNames = {
	patient: patientColumns,
	time: ["prediction_time", "time", "date"],
	value: ["boolean_value", "value", "label"],
} as const;

const truths = "('1', 'true', 't', 'yes', 'y', 'positive')";
const falsehoods = "('0', 'false', 'f', 'no', 'n', 'negative')";

/** The files of labels: one file, or all Parquet files below a folder, as MEDS has them. */
export async function filesOf(path: string): Promise<readonly string[]> {
	const isFolder = await stat(path).then(
		(found) => found.isDirectory(),
		() => false, // reading the file says why
	);
	if (!isFolder) return [path];
	const files = await parquetIn(path);
	if (files.length > 0) return files;
	throw new InputError(
		`${path} holds no .parquet file; expected a file of labels, or a folder of MEDS label files`,
	);
}

/** Reads a file or folder of labels into table `given` (key, day, value), and refuses rows that are wrong. */
async function readGiven(store: Store, path: string, axis: TimeAxis): Promise<void> {
	await store.run("CREATE OR REPLACE TABLE given (key VARCHAR, day DOUBLE, value BOOLEAN)");
	const tables: { readonly table: Table; readonly before: number }[] = [];
	for (const file of await filesOf(path)) {
		const table = await openTable(store, file);
		tables.push({ table, before: await store.count("given") });
		await reading(table, () => store.run(`INSERT INTO given ${givenSql(table, axis)}`));
	}
	const refuse = async (condition: string, what: string) => {
		const [bad] = await store.all<{ row: number | null }>(
			`SELECT min(rowid) AS row FROM given WHERE ${condition}`,
		);
		const row = bad?.row;
		if (row == null) return;
		const own = tables.findLast(({ before }) => before <= row);
		throw new InputError(`${await own?.table.place(row - own.before + 1)} ${what}`);
	};
	await refuse("key IS NULL OR key = ''", "names no patient; expected an id");
	await refuse("value IS NULL", "has no value; expected true or false, 1 or 0");
	const forms = axis === "dates" ? "a date such as 2019-05-31" : "a number of days";
	if (tables.some(({ table }) => columnOf(table, columnNames.time)))
		await refuse(
			isBadTime("day", axis === "dates" ? "date" : "days"),
			`has no time that can be read; expected ${forms}`,
		);
	await refuse(
		"(key, coalesce(day, 0)) IN (SELECT (key, coalesce(day, 0)) FROM given GROUP BY key, day HAVING min(value) <> max(value))",
		"contradicts another line about the same patient and time; keep one of the two",
	);
}

/** SQL for the labels of a table. */
function givenSql(table: Table, axis: TimeAxis): string {
	const need = (what: keyof typeof columnNames) => {
		const found = columnOf(table, columnNames[what]);
		if (found) return found;
		throw new InputError(
			`${table.file} has no column for the ${what}; it has ${listed(table.columns)}; expected one of ${columnNames[what].join(", ")}`,
		);
	};
	const [patient, value] = [need("patient"), need("value")];
	const time = columnOf(table, columnNames.time);
	const day = time ? daysOf(time, axis === "dates" ? "date" : "days") : "NULL::DOUBLE";
	const word = `lower(${value.type === "BOOLEAN" ? rawText(value) : plainText(value, "whole")})`;
	return `
		SELECT ${plainText(patient, "whole")} AS key, ${day} AS day,
			CASE WHEN ${word} IN ${truths} THEN true WHEN ${word} IN ${falsehoods} THEN false END AS value
		FROM ${table.sql}`;
}

/**
 * Adds the labels of a file or folder to table `label`. The model may see the history up to and including the time of
 * a label, or all of it if there is no time.
 */
export async function addUserLabels(
	store: Store,
	{ task, file }: UserLabels,
	axis: TimeAxis,
): Promise<{ summary: Manifest["labels"][number]; notes: string[] }> {
	await readGiven(store, file, axis);
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
	checkSome(file, summary.labels, { given: counts?.given ?? 0, outside, unseen });
	const notes = notesFor([
		[
			outside,
			`${file}: ${outside} of ${counts?.given} labels are of patients outside the dataset (${counts?.strangers} of them without any record) or repeat another: left out`,
		],
	]);
	await store.run("DROP TABLE given");
	await store.run("DROP TABLE labelled");
	return {
		summary: {
			...summary,
			excluded: unseen > 0 ? { "no event before the question": unseen } : {},
			definition: await definitionBeside(file, task),
		},
		notes,
	};
}

/** Refuses labels none of which can be used. */
function checkSome(
	file: string,
	used: number,
	{ given, outside, unseen }: Readonly<Record<"given" | "outside" | "unseen", number>>,
): void {
	if (used > 0) return;
	throw new InputError(
		given === 0
			? `${file} holds no labels; expected a line per label: patient, time, value`
			: `${file}: none of its ${given} labels can be used: ${outside} are of patients outside the dataset, ${unseen} have no event up to their time; check that both name patients alike, and the times`,
		{ field: "labels", value: file },
	);
}

const labelMemory = 2 ** 30;

/**
 * A dataset with further labels, from a file or folder, for one task. The dataset on disk does not change.
 *
 * @example
 * const { dataset } = await withLabels(await openDataset("data"), { task: "stroke", file: "labels/stroke" });
 */
export async function withLabels(
	dataset: Dataset,
	{ task, file }: UserLabels,
): Promise<{ dataset: Dataset; notes: string[] }> {
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
	const given = await givenLabels(file, manifest.source.axis);
	const numbers = new Map(
		splitNames.flatMap((split) =>
			Array.from(dataset.patients(split), (patient) => [dataset.idOf(patient), patient] as const),
		),
	);
	const labels: Label[] = [];
	let [outside, unseen] = [0, 0];
	for (const { key, day, value } of given) {
		const patient = numbers.get(key);
		if (patient === undefined) {
			outside++;
			continue;
		}
		const { times, birthEvents } = await dataset.read(patient);
		const own = times.subarray(birthEvents);
		const later = day === null ? -1 : own.findIndex((time) => time > day);
		const events = later < 0 ? own.length : later;
		if (events === 0) unseen++;
		else labels.push({ patient, time: day ?? (own.at(-1) as number), events, value });
	}
	checkSome(file, labels.length, { given: given.length, outside, unseen });
	labels.sort((a, b) => a.patient - b.patient || a.time - b.time);
	const summary: Manifest["labels"][number] = {
		...{ task, rule: `given in ${file}`, labels: labels.length },
		positive: labels.filter(({ value }) => value).length,
		excluded: unseen > 0 ? { "no event before the question": unseen } : {},
		definition: await definitionBeside(file, task),
	};
	return {
		dataset: {
			...dataset,
			manifest: { ...manifest, labels: [...manifest.labels, summary] },
			labels: async (name) => (name === task ? labels : dataset.labels(name)),
			labelFiles: { ...dataset.labelFiles, [task]: file },
		},
		notes: notesFor([
			[
				outside,
				`${file}: ${outside} of ${given.length} labels are of patients outside the dataset: left out`,
			],
			[unseen, `${file}: ${unseen} labels have no event up to their time: left out`],
		]),
	};
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
	axis: TimeAxis,
	within?: { readonly splitsFrom: string; readonly split: Split },
): Promise<GivenLabel[]> {
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-labels-"));
	return temporarily(folder, async () => {
		const files = [...(await filesOf(path)), ...(within ? [within.splitsFrom] : [])];
		const store = await openStore({ folder, memory: labelMemory, files });
		try {
			await readGiven(store, path, axis);
			if (within) await readGivenSplits(store, within.splitsFrom);
			return await store.all<GivenLabel>(`
				SELECT DISTINCT key, day, value FROM given
				${within ? `SEMI JOIN (SELECT key FROM given_split WHERE split = ${quoted(within.split)}) USING (key)` : ""}
				ORDER BY ALL`);
		} finally {
			store.close();
		}
	});
}
