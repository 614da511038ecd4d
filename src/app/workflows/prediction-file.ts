import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget, replaceFolder } from "../../base/files/index.js";
import { csvLine } from "../../base/table.js";
import { dayMilliseconds, isoDate, type TimeAxis } from "../../base/time.js";
import {
	type EvaluationType,
	type LabelPrediction,
	type PlpOptions,
	plpTableNames,
	plpTables,
} from "../../evaluate/index.js";
import { checkOutputFile } from "./check-output-file.js";
import { type Column, columnFormat, csvOf, writeColumns } from "./column-file.js";
import {
	numberedText,
	numberSubjects,
	type SubjectNumbers,
	subjectsFile,
	writeSubjects,
} from "./subject-numbers.js";

/** The columns of a file of predictions: ours, those of meds-evaluation, or those of PatientLevelPrediction. */
export const predictionSchemas = ["plain", "meds", "plp"] as const;
export type PredictionSchema = (typeof predictionSchemas)[number];

export interface PredictionFile {
	readonly file: string;
	readonly schema: PredictionSchema;
	/** Whether an existing file may be replaced. */
	readonly replace?: boolean | undefined;
}

/** The frame of predictions in a folder of PatientLevelPrediction; the file that makes it one. */
const plpPredictionFile = "prediction.csv";

/** What all predictions of a file have in common. */
export interface PredictionContext {
	readonly axis: TimeAxis;
	/** In the words of PatientLevelPrediction. */
	readonly evaluationType: EvaluationType;
}

/** Refuses a file that cannot be written, or a schema that the records cannot have; call it before long work. */
export async function checkPredictionFile(
	{ file, schema, replace = false }: PredictionFile,
	axis: TimeAxis,
): Promise<void> {
	columnFormat(file);
	await checkOutputFile(file, replace);
	if (schema !== "plain") await checkOutputFile(subjectsFile(file), replace);
	if (schema !== "plain" && axis !== "dates")
		throw new InputError(
			`\`predictionsSchema\` ${schema} needs dates, and these records have days alone; leave it out to write days`,
			{ field: "predictionsSchema", value: schema },
		);
}

/** The numbers of patients in a folder of PatientLevelPrediction. */
const plpSubjectsFile = "subjects.csv";

const plpTableFile = (name: string) => `${name}.csv`;

/** The same for a folder of PatientLevelPrediction; only one that was written here is replaced. */
export async function checkPlpTarget(
	folder: string,
	replace: boolean,
	axis: TimeAxis,
): Promise<void> {
	await checkFolderTarget(folder, replace, plpPredictionFile, [
		plpSubjectsFile,
		...plpTableNames.map(plpTableFile),
	]);
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
	predictions: readonly LabelPrediction[],
	context: PredictionContext,
): Promise<string[]> {
	const subjects = numbersOf(predictions);
	const columns = columnsIn[schema](predictions, { ...context, subjects });
	if (schema !== "plain") await writeSubjects(subjectsFile(file), subjects);
	await writeColumns(file, columns);
	return schema !== "plain" && subjects.areNew ? [numberedText(subjectsFile(file))] : [];
}

const numbersOf = (predictions: readonly LabelPrediction[]) =>
	numberSubjects(predictions.map(({ patient }) => patient));

/**
 * Writes a folder with the predictions and the evaluation tables of PatientLevelPrediction. Returns what to tell the
 * user.
 */
export async function writePlp(
	folder: string,
	predictions: readonly LabelPrediction[],
	options: PlpOptions,
): Promise<string[]> {
	const subjects = numbersOf(predictions);
	await replaceFolder(folder, async (partial) => {
		const file = join(partial, plpPredictionFile);
		const columns = plpColumns(predictions, {
			...{ evaluationType: options.evaluation, subjects },
		});
		await writeFile(file, csvOf(columns));
		for (const [name, { header, rows }] of Object.entries(plpTables(predictions, options)))
			await writeFile(join(partial, plpTableFile(name)), [header, ...rows].map(csvLine).join(""));
		await writeSubjects(join(partial, plpSubjectsFile), subjects);
	});
	return subjects.areNew ? [numberedText(join(folder, plpSubjectsFile))] : [];
}

interface NumberedContext extends PredictionContext {
	readonly subjects: SubjectNumbers;
}

const columnsIn: Readonly<
	Record<
		PredictionSchema,
		(predictions: readonly LabelPrediction[], context: NumberedContext) => Column[]
	>
> = { plain: plainColumns, meds: medsColumns, plp: plpColumns };

function plainColumns(rows: readonly LabelPrediction[], { axis }: PredictionContext): Column[] {
	const hasLabels = rows.some(({ label }) => label !== null);
	const hasWeights = rows.some(({ weight }) => weight !== undefined && weight !== 1);
	const hasHorizons = rows.some(({ horizonDays }) => horizonDays !== undefined);
	return [
		{ name: "patient", type: "text", values: rows.map(({ patient }) => patient) },
		...(axis === "dates"
			? [{ name: "date", type: "text" as const, values: rows.map(({ time }) => isoDate(time)) }]
			: []),
		{ name: "day", type: "number", values: rows.map(({ time }) => time) },
		...(hasHorizons
			? [
					{
						name: "horizon_days",
						type: "number" as const,
						values: rows.map(({ horizonDays = Number.NaN }) => horizonDays),
					},
				]
			: []),
		...(hasLabels
			? [{ name: "label", type: "label" as const, values: rows.map(({ label }) => label) }]
			: []),
		{ name: "probability", type: "number", values: rows.map(({ probability }) => probability) },
		...(hasWeights
			? [
					{
						name: "weight",
						type: "number" as const,
						values: rows.map(({ weight = 1 }) => weight),
					},
				]
			: []),
	];
}

/** A positive prediction of `predicted_boolean_value`. */
const decision = 0.5;

/** PredictionSchema of meds-evaluation; probabilities have 32 bits there. */
function medsColumns(
	rows: readonly LabelPrediction[],
	{ subjects }: Pick<NumberedContext, "subjects">,
): Column[] {
	return [
		subjectColumn("subject_id", rows, subjects),
		{
			name: "prediction_time",
			type: "time",
			values: rows.map(({ time }) => new Date(Math.round(time * dayMilliseconds))),
		},
		{ name: "boolean_value", type: "label", values: rows.map(({ label }) => label) },
		{
			name: "predicted_boolean_value",
			type: "flag",
			values: rows.map(({ probability }) => Math.fround(probability) >= decision),
		},
		{
			name: "predicted_boolean_probability",
			type: "float",
			values: rows.map(({ probability }) => probability),
		},
	];
}

const subjectColumn = (
	name: string,
	rows: readonly LabelPrediction[],
	{ of }: SubjectNumbers,
): Column => ({ name, type: "id", values: rows.map(({ patient }) => of.get(patient) as bigint) });

/** The prediction frame of PatientLevelPrediction. */
function plpColumns(
	rows: readonly LabelPrediction[],
	{ evaluationType, subjects }: Pick<NumberedContext, "evaluationType" | "subjects">,
): Column[] {
	return [
		{ name: "rowId", type: "id", values: rows.map((_, at) => at + 1) },
		subjectColumn("subjectId", rows, subjects),
		{ name: "cohortStartDate", type: "text", values: rows.map(({ time }) => isoDate(time)) },
		{
			name: "outcomeCount",
			type: "whole",
			values: rows.map(({ label }) => (label === null ? null : Number(label))),
		},
		{ name: "value", type: "number", values: rows.map(({ probability }) => probability) },
		{ name: "evaluationType", type: "text", values: rows.map(() => evaluationType) },
		{
			name: "ageYear",
			type: "whole",
			values: rows.map(({ ageYears }) => (ageYears === null ? null : Math.floor(ageYears))),
		},
		{ name: "gender", type: "whole", values: rows.map(({ sex }) => genderConcept(sex)) },
	];
}

/** OMOP concepts. */
const genderConcept = (sex: LabelPrediction["sex"]) =>
	sex === null ? null : sex === "male" ? 8507 : 8532;
