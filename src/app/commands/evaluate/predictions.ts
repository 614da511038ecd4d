import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../../base/errors.js";
import { type Column, columnsOf, csvOf, writeColumns } from "../../../base/files/column-file.js";
import { checkFolderTarget, replaceFolder } from "../../../base/files/index.js";
import { csvLine } from "../../../base/table.js";
import { dayMilliseconds, isoDate, type TimeAxis } from "../../../base/time.js";
import type { Dataset } from "../../../data/cohort/index.js";
import * as evaluating from "../../../evaluate/index.js";
import { finetuneCommand, type Trained } from "../../../model/train/index.js";
import { checkOutputFile, checkTableFile } from "../../../model/train/output-file.js";

/** The columns of a file of predictions: ours, those of meds-evaluation, or those of PatientLevelPrediction. */
export const predictionSchemas = ["plain", "meds", "plp"] as const;
export type PredictionSchema = (typeof predictionSchemas)[number];

export interface PredictionFile {
	readonly file: string;
	readonly schema: PredictionSchema;
	readonly replace?: boolean | undefined;
}

/** What all predictions of a file have in common. */
interface PredictionContext {
	readonly axis: TimeAxis;
	/** In the words of PatientLevelPrediction. */
	readonly evaluationType: evaluating.EvaluationType;
	readonly subjects: SubjectNumbers;
}

/** Refuses a file that cannot be written, or a schema that the records cannot have; call it before long work. */
export async function checkPredictionFile(
	{ file, schema, replace = false }: PredictionFile,
	axis: TimeAxis,
): Promise<void> {
	await checkTableFile(file, replace);
	if (schema !== "plain") await checkOutputFile(evaluating.subjectsFile(file), replace);
	if (schema !== "plain" && axis !== "dates")
		throw new InputError(
			`\`predictionsSchema\` ${schema} needs dates, and these records have days alone; leave it out to write days`,
			{ field: "predictionsSchema", value: schema },
		);
}

/** The files of a folder of PatientLevelPrediction; the predictions make it one. */
const plpFiles = { predictions: "prediction.csv", subjects: "subjects.csv" };
const plpTableFile = (name: string) => `${name}.csv`;

/** The same for a folder of PatientLevelPrediction; only one that was written here is replaced. */
async function checkPlpTarget(folder: string, replace: boolean, axis: TimeAxis): Promise<void> {
	const others = [plpFiles.subjects, ...evaluating.plpTableNames.map(plpTableFile)];
	await checkFolderTarget(folder, replace, plpFiles.predictions, others);
	if (axis !== "dates")
		throw new InputError(
			"`plp` needs dates, and these records have days alone; write `predictions` instead",
			{ field: "plp" },
		);
}

/**
 * Writes predictions to a .csv or .parquet file, and the numbers of patients beside it if the schema needs numbers that
 * the ids are not. Returns what to tell the user.
 */
export async function writePredictions(
	{ file, schema }: PredictionFile,
	predictions: readonly evaluating.LabelPrediction[],
	context: Omit<PredictionContext, "subjects">,
): Promise<string[]> {
	const subjects = numbersOf(predictions);
	if (schema !== "plain") await writeSubjects(evaluating.subjectsFile(file), subjects);
	await writeColumns(file, columnsIn[schema](predictions, { ...context, subjects }));
	return schema === "plain" ? [] : numberedNotes(evaluating.subjectsFile(file), subjects);
}

const numbersOf = (predictions: readonly evaluating.LabelPrediction[]) =>
	numberSubjects(predictions.map(({ patient }) => patient));

/**
 * Writes a folder with the predictions and the evaluation tables of PatientLevelPrediction. Returns what to tell the
 * user.
 */
async function writePlp(
	folder: string,
	predictions: readonly evaluating.LabelPrediction[],
	options: evaluating.PlpOptions,
): Promise<string[]> {
	const subjects = numbersOf(predictions);
	await replaceFolder(folder, async (partial) => {
		const context = { axis: "dates", evaluationType: options.evaluation, subjects } as const;
		const columns = plpColumns(predictions, context);
		await writeFile(join(partial, plpFiles.predictions), csvOf(columns));
		for (const [name, { header, rows }] of Object.entries(
			evaluating.plpTables(predictions, options),
		))
			await writeFile(join(partial, plpTableFile(name)), [header, ...rows].map(csvLine).join(""));
		await writeSubjects(join(partial, plpFiles.subjects), subjects);
	});
	return numberedNotes(join(folder, plpFiles.subjects), subjects);
}

const columnsIn: Readonly<
	Record<
		PredictionSchema,
		(predictions: readonly evaluating.LabelPrediction[], context: PredictionContext) => Column[]
	>
> = { plain: plainColumns, meds: medsColumns, plp: plpColumns };

function plainColumns(rows: readonly evaluating.LabelPrediction[], { axis }: PredictionContext) {
	const has = (isSet: (row: evaluating.LabelPrediction) => boolean) => rows.some(isSet);
	return columnsOf(rows, {
		patient: ["text", ({ patient }) => patient],
		date: axis === "dates" && ["text", ({ time }) => isoDate(time)],
		day: ["number", ({ time }) => time],
		code: has(({ code }) => code !== undefined) && ["text", ({ code = null }) => code],
		system: has(({ system }) => system !== undefined) && ["text", ({ system = null }) => system],
		horizon_days: has(({ horizonDays }) => horizonDays !== undefined) && [
			"number",
			({ horizonDays = Number.NaN }) => horizonDays,
		],
		label: has(({ label }) => label !== null) && ["label", ({ label }) => label],
		probability: ["number", ({ probability }) => probability],
		weight: has(({ weight = 1 }) => weight !== 1) && ["number", ({ weight = 1 }) => weight],
	});
}

/** A positive prediction of `predicted_boolean_value`. */
const decision = 0.5;

/** PredictionSchema of meds-evaluation; probabilities have 32 bits there. */
function medsColumns(rows: readonly evaluating.LabelPrediction[], { subjects }: PredictionContext) {
	return columnsOf(rows, {
		subject_id: ["id", ({ patient }) => subjects.of.get(patient) as bigint],
		prediction_time: ["time", ({ time }) => new Date(Math.round(time * dayMilliseconds))],
		boolean_value: ["label", ({ label }) => label],
		predicted_boolean_value: ["flag", ({ probability }) => Math.fround(probability) >= decision],
		predicted_boolean_probability: ["float", ({ probability }) => probability],
	});
}

/** OMOP concepts. */
const genders = { male: 8507, female: 8532 };

/** The prediction frame of PatientLevelPrediction. */
function plpColumns(
	rows: readonly evaluating.LabelPrediction[],
	{ evaluationType, subjects }: PredictionContext,
): Column[] {
	return columnsOf(rows, {
		rowId: ["id", (_, at) => at + 1],
		subjectId: ["id", ({ patient }) => subjects.of.get(patient) as bigint],
		cohortStartDate: ["text", ({ time }) => isoDate(time)],
		outcomeCount: ["whole", ({ label }) => (label === null ? null : Number(label))],
		value: ["number", ({ probability }) => probability],
		evaluationType: ["text", () => evaluationType],
		ageYear: ["whole", ({ ageYears }) => (ageYears === null ? null : Math.floor(ageYears))],
		gender: ["whole", ({ sex }) => (sex === null ? null : genders[sex])],
	});
}

/** Patients by number, for schemas that want numbers. */
type SubjectNumbers = ReturnType<typeof numberSubjects>;

/** The ids as 64-bit numbers if they are such numbers, and no two the same; otherwise numbers from 1, in their order. */
export function numberSubjects(patients: Iterable<string>) {
	const ids = [...new Set(patients)];
	const numbers = ids.flatMap((id) => {
		const number = /^-?\d{1,19}$/.test(id) ? BigInt(id) : undefined;
		return number !== undefined && BigInt.asIntN(64, number) === number ? [number] : [];
	});
	const areNew = new Set(numbers).size < ids.length;
	if (areNew) ids.sort();
	return {
		of: new Map(ids.map((id, i) => [id, areNew ? BigInt(i + 1) : (numbers[i] as bigint)])),
		/** Whether the numbers are new; otherwise they are the ids. */
		areNew,
	};
}

/** What to tell the user about a file of new numbers. */
const numberedNotes = (file: string, { areNew }: SubjectNumbers): string[] =>
	areNew
		? [
				`ids of patients are not 64-bit whole numbers, which the schema needs: they are numbered, and ${file} has the id of each number`,
			]
		: [];

/** Writes the ids with their numbers, if those are new; removes an earlier file if not. */
async function writeSubjects(file: string, { of, areNew }: SubjectNumbers): Promise<void> {
	if (!areNew) return rm(file, { force: true });
	const columns = columnsOf([...of], {
		id: ["text", ([id]) => id],
		subject_id: ["id", ([, number]) => number],
	});
	await writeColumns(file, columns);
}

/** Where to write the predictions behind the model's row of an evaluation. */
export interface PredictionTargets {
	/** Write the predictions for each patient to a file; for one run and one task. */
	readonly predictions?: PredictionFile | undefined;
	/** Write the predictions and evaluation tables of PatientLevelPrediction to a folder; for one run and one task. */
	readonly plp?: { readonly folder: string; readonly replace?: boolean | undefined } | undefined;
}

export type WrittenPredictions = Awaited<ReturnType<typeof writeRowPredictions>>;

/** Refuses tasks whose predictions are not of one label. */
export function checkHasOutcomes(task: string | undefined): void {
	if (task === "onset" || (task !== undefined && evaluating.isLabelledTask(task))) return;
	throw new InputError(
		`predictions are those of one label, and ${task === undefined ? "no task is named" : `task ${task} has none`}; choose onset or a task with labels as \`task\``,
		{ field: "task", value: task },
	);
}

/** Refuses targets that cannot be written; call it before long work. Returns whether there are any. */
export async function checkPredictionTargets(
	{ predictions, plp }: PredictionTargets,
	runs: readonly Trained[],
	task: string | undefined,
	axis: TimeAxis,
): Promise<boolean> {
	if (!predictions && !plp) return false;
	if (runs.length > 1)
		throw new InputError("predictions are those of one run; evaluate the runs one by one", {
			field: "predictions",
		});
	checkHasOutcomes(task);
	if (predictions) await checkPredictionFile(predictions, axis);
	if (plp) await checkPlpTarget(plp.folder, plp.replace ?? false, axis);
	return true;
}

const evaluationTypes = { train: "Train", valid: "CV", test: "Test" } as const;

/** Writes the predictions behind the model's row of a task; undefined stands for a model that predicts none. */
export async function writeRowPredictions(
	task: string,
	trained: Trained,
	dataset: Dataset,
	scored: evaluating.RowPredictions | undefined,
	{
		predictions,
		plp,
		split,
		draws,
		seed,
	}: PredictionTargets & Pick<evaluating.EvaluateOptions, "split" | "draws" | "seed">,
) {
	if (!scored) {
		const labelFile = dataset.labelFiles?.[task];
		throw new InputError(
			`${trained.folder} has no probabilities of ${task} to write; run \`${finetuneCommand(trained.folder, { task, labelFile })}\` first`,
			{ field: "task", value: task },
		);
	}
	const schema = predictions?.schema ?? "plp";
	const horizons = new Set(scored.predictions.map(({ horizonDays }) => horizonDays));
	if ((schema !== "plain" || plp) && horizons.size > 1)
		throw new InputError(
			`the predictions have ${horizons.size} horizons, and ${plp ? "plp" : schema} has room for one; give one with \`horizons\``,
			{ field: "horizons" },
		);
	const labelled = scored.predictions.filter(({ label }) => label !== null);
	const evaluation = evaluating.isExternal(trained, dataset)
		? "Validation"
		: evaluationTypes[split];
	const notes = [...scored.notes];
	if (predictions) {
		const rows = schema === "plain" ? scored.predictions : labelled;
		const { axis } = dataset.manifest.source;
		notes.push(
			...(await writePredictions(predictions, rows, { axis, evaluationType: evaluation })),
		);
	}
	if (plp) {
		const attrition = [
			{
				description: `patients of split ${split}`,
				patients: dataset.patients(split).length,
				outcomes: 0,
			},
			{
				description: "with a known label",
				patients: new Set(labelled.map(({ patient }) => patient)).size,
				outcomes: labelled.filter(({ label }) => label).length,
			},
		];
		notes.push(...(await writePlp(plp.folder, labelled, { evaluation, draws, seed, attrition })));
	}
	// Files of MEDS hold probabilities in single precision.
	const inFile = schema === "meds" ? Math.fround : (probability: number) => probability;
	const written = labelled.map((row) => ({ ...row, probability: inFile(row.probability) }));
	return {
		...(predictions && { file: predictions.file }),
		...(plp && { folder: plp.folder }),
		row: scored.row,
		/** Predictions with a label. */
		count: written.length,
		notes,
		/** The metrics of meds-evaluation, of the values in the file; null if all labels are of one class. */
		metrics: evaluating.predictionMetrics(written) ?? null,
	};
}
