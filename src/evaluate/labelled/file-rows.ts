import { listUnder } from "../../base/arrays.js";
import { InputError } from "../../base/errors.js";
import { dateOf, dayMilliseconds, type TimeAxis } from "../../base/time.js";
import * as files from "../prediction-file.js";
import { type ScoredRow, scoredRow, type TaskData } from "./model-rows.js";

const keyOf = (patient: string, time: number) => `${Math.round(time * dayMilliseconds)} ${patient}`;

const timeText = (time: number, axis: TimeAxis) =>
	axis === "dates" ? dateOf(time).toISOString() : `day ${time}`;

/** The row of a file of predictions, which has one of every label that is evaluated. */
async function fileRow(
	{ task, dataset, options, evaluated }: TaskData,
	file: string,
): Promise<ScoredRow> {
	const { axis } = dataset.manifest.source;
	const { labels } = evaluated;
	const labelsAt = new Map<string, number[]>();
	const timesOf = new Map<string, number[]>();
	for (const [index, { patient, time }] of labels.entries()) {
		const id = dataset.idOf(patient);
		listUnder(labelsAt, keyOf(id, time), index);
		listUnder(timesOf, id, time);
	}
	const probabilities = new Float64Array(labels.length).fill(Number.NaN);
	await files.readPredictionFile(file, dataset, options, ({ patient, time, probability }) => {
		const times = timesOf.get(patient);
		// Patients without a label are not evaluated.
		if (!times) return undefined;
		if (time === null)
			return "has no time; expected columns patient, prediction_time and probability";
		const indices = labelsAt.get(keyOf(patient, time));
		if (!indices)
			return `predicts for patient "${patient}" at ${timeText(time, axis)}, where ${task} has no label; expected ${times.map((one) => timeText(one, axis)).join(" or ")}`;
		if (!Number.isNaN(probabilities[indices[0]]))
			return `predicts the same again for patient "${patient}" at ${timeText(time, axis)}; keep one of the two`;
		for (const index of indices) probabilities[index] = probability;
		return undefined;
	});
	const missing = labels.filter((_, index) => Number.isNaN(probabilities[index]));
	const [first] = missing;
	if (first)
		throw new InputError(
			`${file} lacks predictions of ${missing.length} of the ${labels.length} labels of ${task}, such as that of patient "${dataset.idOf(first.patient)}" at ${timeText(first.time, axis)}; add them`,
			{ field: "compare", value: file },
		);
	return scoredRow({ who: "file", label: files.rowLabelOf(file) }, evaluated, probabilities);
}

/** A row per file of `compare`. */
export async function fileRows(data: TaskData): Promise<ScoredRow[]> {
	const rows: ScoredRow[] = [];
	for (const file of data.options.compare ?? []) rows.push(await fileRow(data, file));
	return rows;
}
