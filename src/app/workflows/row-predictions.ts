import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import {
	isExternal,
	isLabelledTask,
	type LabelPrediction,
	type PredictionMetrics,
	predictionMetrics,
	type RowPredictions,
	type EvaluateOptions as TaskOptions,
} from "../../evaluate/index.js";
import { finetuneCommand, type Trained } from "../../model/train/index.js";
import {
	checkPlpTarget,
	checkPredictionFile,
	type PredictionFile,
	writePlp,
	writePredictions,
} from "./prediction-file.js";

/** Where to write the predictions behind the model's row of an evaluation. */
export interface PredictionTargets {
	/** Write the predictions for each patient to a file; for one run and one task. */
	readonly predictions?: PredictionFile | undefined;
	/** Write the predictions and evaluation tables of PatientLevelPrediction to a folder; for one run and one task. */
	readonly plp?: { readonly folder: string; readonly replace?: boolean | undefined } | undefined;
}

/** The predictions behind one row of an evaluation, as they were written. */
export interface WrittenPredictions {
	readonly file?: string;
	readonly folder?: string;
	/** The label of the row. */
	readonly row: string;
	/** Predictions with a label. */
	readonly count: number;
	readonly notes: readonly string[];
	/** The metrics of meds-evaluation, of the values in the file; null if all labels are of one class. */
	readonly metrics: PredictionMetrics | null;
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
	if (task === undefined || (task !== "onset" && !isLabelledTask(task)))
		throw new InputError(
			`predictions are those of one label, and ${task === undefined ? "no task is named" : `task ${task} has none`}; choose onset or a task with labels as \`task\``,
			{ field: "task", value: task },
		);
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
	found: RowPredictions | undefined,
	{
		predictions,
		plp,
		split,
		draws,
		seed,
	}: PredictionTargets & Pick<TaskOptions, "split" | "draws" | "seed">,
): Promise<WrittenPredictions> {
	if (!found) {
		const labelFile = dataset.labelFiles?.[task];
		throw new InputError(
			`${trained.folder} has no probabilities of ${task} to write; run \`${finetuneCommand(trained.folder, { task, labelFile })}\` first`,
			{ field: "task", value: task },
		);
	}
	const schema = predictions?.schema ?? "plp";
	const horizons = new Set(found.predictions.map(({ horizonDays }) => horizonDays));
	if ((schema !== "plain" || plp) && horizons.size > 1)
		throw new InputError(
			`the predictions have ${horizons.size} horizons, and ${plp ? "plp" : schema} has room for one; give one with \`horizons\``,
			{ field: "horizons" },
		);
	const labelled = found.predictions.filter(({ label }) => label !== null);
	const evaluation = isExternal(trained, dataset) ? "Validation" : evaluationTypes[split];
	const notes = [...found.notes];
	if (predictions)
		notes.push(
			...(await writePredictions(predictions, schema === "plain" ? found.predictions : labelled, {
				...{ axis: dataset.manifest.source.axis, evaluationType: evaluation },
			})),
		);
	if (plp)
		notes.push(
			...(await writePlp(plp.folder, labelled, {
				...{ evaluation, draws, seed },
				attrition: [
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
				],
			})),
		);
	const written = schema === "meds" ? labelled.map(inSinglePrecision) : labelled;
	return {
		...(predictions && { file: predictions.file }),
		...(plp && { folder: plp.folder }),
		...{ row: found.row, count: written.length, notes },
		metrics: predictionMetrics(written) ?? null,
	};
}

/** As a file of MEDS holds it. */
const inSinglePrecision = (own: LabelPrediction): LabelPrediction => ({
	...own,
	probability: Math.fround(own.probability),
});
