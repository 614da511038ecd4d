import { existsSync } from "node:fs";
import { join, parse } from "node:path";
import { InputError } from "../base/errors.js";
import { type TimeAxis, yearDays } from "../base/time.js";
import type { Dataset } from "../data/cohort/index.js";
import { patientColumns, requiredColumn } from "../data/cohort/people.js";
import type { Column, Table } from "../data/records/sql.js";
import { type Store, withStore } from "../data/records/store.js";
import { openTable, rowOfFile, withNumberedRows } from "../data/records/table.js";
import { columnOf } from "../data/records/tables/columns.js";
import { daysOf, plainText } from "../data/records/tables/values.js";
import type { EvaluateOptions } from "./evaluation.js";

/** The name of the row that a file of predictions makes. */
export const rowLabelOf = (file: string): string => parse(file).name;

/** The ids of the patients whom a file of predictions numbers, in a file beside it. */
export function subjectsFile(file: string): string {
	const { dir, name } = parse(file);
	return join(dir, `${name}.subjects.csv`);
}

/** A row of a file of predictions; null where a cell is empty or the file has no such column. */
export interface FilePrediction {
	readonly patient: string;
	/** In days. */
	readonly time: number | null;
	readonly code: string | null;
	readonly system: string | null;
	readonly horizonDays: number | null;
	readonly probability: number;
}

/** The names that columns may have: ours, and those of meds-evaluation. The first that a file has is read. */
const columnNames = {
	/** Days on the axis of the records; written beside the date. */
	day: ["day"],
	time: ["date", "index_date", "prediction_date", "prediction_time", "time"],
	probability: ["probability", "predicted_boolean_probability"],
} as const;

/** SQL for each value of a prediction. */
type ValuesSql = Readonly<Record<keyof FilePrediction, string>>;

const numberSql = ({ sql }: Column): string => `TRY_CAST(${sql} AS DOUBLE)`;

function timeSql(table: Table, axis: TimeAxis): string {
	const day = columnOf(table, columnNames.day);
	if (day) return numberSql(day);
	const time = columnOf(table, columnNames.time);
	return time ? daysOf(time, axis === "dates" ? "date" : "days") : "NULL::DOUBLE";
}

function horizonSql(table: Table): string {
	const days = columnOf(table, ["horizon_days"]);
	if (days) return numberSql(days);
	const years = columnOf(table, ["horizon_years"]);
	return years ? `round(${numberSql(years)} * ${yearDays})` : "NULL::DOUBLE";
}

function textSql(table: Table, name: string): string {
	const column = columnOf(table, [name]);
	return column ? `nullif(${plainText(column, "whole")}, '')` : "NULL::VARCHAR";
}

const valuesSql = (table: Table, axis: TimeAxis): ValuesSql => ({
	patient: `coalesce(${plainText(requiredColumn(table, "patient", patientColumns), "whole")}, '')`,
	time: timeSql(table, axis),
	code: textSql(table, "code"),
	system: textSql(table, "system"),
	horizonDays: horizonSql(table),
	probability: numberSql(requiredColumn(table, "probability", columnNames.probability)),
});

/** The ids by the numbers of the file beside the predictions, if there is one. */
async function idsByNumber(store: Store, file: string): Promise<ReadonlyMap<string, string>> {
	const subjects = subjectsFile(file);
	if (!existsSync(subjects)) return new Map();
	const table = await openTable(store, subjects);
	const id = plainText(requiredColumn(table, "id", ["id"]), "whole");
	const number = plainText(requiredColumn(table, "number", ["subject_id"]), "whole");
	const rows = await store.all<{ id: string; number: string }>(
		`SELECT ${id} AS id, ${number} AS number FROM ${table.sql}`,
	);
	return new Map(rows.map((row) => [row.number, row.id]));
}

const memory = 2 ** 30;

/**
 * Reads the rows of a CSV or Parquet file of predictions in their order. Patients must be in the evaluated split. `take`
 * returns what is wrong with a row, which is then refused with its place in the file, or undefined.
 */
export async function readPredictionFile(
	file: string,
	dataset: Dataset,
	{ split, fullDataset: everybody = dataset }: Pick<EvaluateOptions, "split" | "fullDataset">,
	take: (prediction: FilePrediction) => string | undefined,
): Promise<void> {
	const { axis } = dataset.manifest.source;
	const ofSplit = new Set(Array.from(everybody.patients(split), everybody.idOf));
	const strangers = new Set<string>();
	const checked = (prediction: FilePrediction) => {
		const { patient, probability } = prediction;
		if (!(probability >= 0 && probability <= 1))
			return `has ${Number.isNaN(probability) ? "no probability" : `probability ${probability}`}; expected a number from 0 to 1`;
		if (ofSplit.has(patient)) return take(prediction);
		strangers.add(patient);
		return undefined;
	};
	await withStore({ memory, files: [file, subjectsFile(file)] }, async (store) => {
		const table = await openTable(store, file);
		await withNumberedRows(store, table, table.columns, async (rows) => {
			for await (const { row, ...prediction } of filePredictions(store, table, axis, rows)) {
				const wrong = checked(prediction);
				if (wrong === undefined) continue;
				const [place = file] = await table.places([row]);
				throw new InputError(`${place} ${wrong}`, { field: "compare", value: file });
			}
		});
	});
	const [example] = strangers;
	if (example !== undefined)
		throw new InputError(
			`${file} predicts for ${strangers.size} ${strangers.size === 1 ? "patient" : "patients"} not in split ${split} of ${dataset.folder}, such as "${example}"; leave them out, or choose another \`split\``,
			{ field: "compare", value: file },
		);
}

/** The rows of a table, with their numbers in the file. */
async function* filePredictions(
	store: Store,
	table: Table,
	axis: TimeAxis,
	numberedRows: string,
): AsyncGenerator<FilePrediction & { readonly row: number }> {
	const patientColumn = columnOf(table, patientColumns);
	const isNumbered = patientColumn?.name.trim().toLowerCase() === "subject_id";
	const ids = isNumbered ? await idsByNumber(store, table.file) : new Map<string, string>();
	const list = [`${rowOfFile}::DOUBLE`, ...Object.values(valuesSql(table, axis))].join(", ");
	for await (const { rows, columns } of store.stream(`SELECT ${list} FROM ${numberedRows}`)) {
		const [numbers, patients, times, codes, systems, horizons, probabilities] =
			columns as unknown as readonly [
				readonly number[],
				readonly string[],
				readonly (number | null)[],
				readonly (string | null)[],
				readonly (string | null)[],
				readonly (number | null)[],
				readonly (number | null)[],
			];
		for (let i = 0; i < rows; i++)
			yield {
				row: numbers[i],
				patient: ids.get(patients[i]) ?? patients[i],
				time: times[i],
				code: codes[i],
				system: systems[i],
				horizonDays: horizons[i],
				probability: probabilities[i] ?? Number.NaN,
			};
	}
}

/** Refuses rows of one name: differences name their rows. */
export function refuseSameLabels(labels: readonly string[]): void {
	const twice = labels.find((label, i) => labels.indexOf(label) < i);
	if (twice === undefined) return;
	throw new InputError(
		`two rows would be called "${twice}"; the name of a row is that of its file: rename the file`,
		{ field: "compare", value: twice },
	);
}
