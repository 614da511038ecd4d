import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { finetuneCommand, type Trained } from "../../model/train/index.js";
import type { CalibrationBin, MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { type LabelPrediction, personAt } from "../predictions.js";
import { measureRows, type PatientRow } from "../rows.js";
import { tooFewText } from "../sample-patients.js";
import { baselineRows } from "./baseline-rows.js";
import { fineTuned } from "./fine-tuned.js";
import { frozenRows } from "./frozen-rows.js";
import { labelSetOf, positivesOf, probable, type TaskData } from "./label-set.js";
import { binsFor, calibrationBins } from "./statistics.js";
import { taskCodes, taskLabels } from "./task-labels.js";

/**
 * A task with binary labels: zero-shot, few-shot and fine-tuned rows of the model, and baselines. The baselines
 * are evaluated once.
 */
export async function labelledTask(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const { split, seed, draws, trainingDataset = dataset } = options;
	const { labels, notes: taskNotes } = await taskLabels(dataset, task);
	const homeLabels =
		trainingDataset === dataset ? labels : (await taskLabels(trainingDataset, task)).labels;
	const data: TaskData = {
		task,
		dataset,
		trainingDataset,
		options,
		labels,
		train: labelSetOf(trainingDataset, homeLabels, "train"),
		valid: labelSetOf(trainingDataset, homeLabels, "valid"),
		evaluated: labelSetOf(dataset, labels, split),
		codes: taskCodes(task, dataset.vocabulary, options.code),
	};
	const { evaluated } = data;
	const positive = positivesOf(evaluated);
	if (positive === 0 || positive === evaluated.targets.length)
		throw new InputError(
			`${dataset.folder}: ${positive} of the ${evaluated.targets.length} labels of ${task} in split ${split} are positive; ` +
				"both classes are needed: prepare more patients, or use other splits (`trajgpt prepare --splits`)",
		);
	const notes = [
		...taskNotes(split),
		`${evaluated.targets.length} labels, ${positive} of them positive`,
	];
	if (split !== "test")
		notes.push(
			split === "train"
				? "measured on the labels that few-shot and fine-tuning learn from: too good to be true"
				: "measured on the labels that chose the fine-tuned epoch and its scale: a little too good",
		);
	const others = options.baselines === false ? [] : await baselineRows(data, notes);
	const tooFew = tooFewText({
		split,
		patients: evaluated.count,
		labels: { positive, all: evaluated.targets.length },
	});
	return async (runtime, trained) => {
		const runNotes = [...notes];
		const { rows, calibration } = trained
			? await modelRows(data, runtime, trained, runNotes)
			: { rows: [] };
		return {
			task,
			split,
			patients: evaluated.count,
			events: evaluated.labels.reduce((sum, { events }) => sum + events, 0),
			seed,
			draws,
			notes: runNotes,
			...(tooFew && { tooFew }),
			...measureRows([...rows, ...others], evaluated.count, options),
			...(calibration && { calibration }),
		};
	};
}

/** The rows of the model, one per setting. */
async function modelRows(
	data: TaskData,
	runtime: Runtime,
	trained: Trained,
	notes: string[],
): Promise<{ rows: PatientRow[]; calibration?: CalibrationBin[] }> {
	const { task, dataset, options, labels, evaluated, codes } = data;
	const { name, pretraining } = trained.model;
	const rows: PatientRow[] =
		codes && pretraining !== "none" ? await frozenRows(data, codes, runtime, trained, notes) : [];
	if (pretraining === "none")
		notes.push(`no zero-shot and few-shot rows: ${name} is trained on each task from scratch`);
	else if (!codes)
		notes.push("no zero-shot and few-shot rows: name the code the task is about with `code`");
	const tuned = await fineTuned(runtime, trained, dataset, task, labels, data);
	if (!tuned) {
		const risk = rows.find(({ name: rowName }) => rowName.setting === "zero-shot risk");
		if (risk && "scored" in risk.byPatient)
			await reportPredictions(data, risk.name.label, risk.byPatient.scored.scores[0]);
		const labelFile = dataset.labelFiles?.[task];
		notes.push(`not fine-tuned: run \`${finetuneCommand(trained.folder, { task, labelFile })}\``);
		return { rows };
	}
	await reportPredictions(data, `${name}, fine-tuned`, tuned.probabilities);
	const bins = binsFor(evaluated.targets.length);
	notes.push(
		`fine-tuned: epoch ${tuned.epoch}, the best by validation; log-odds times ${tuned.slope.toFixed(2)} ${tuned.shift < 0 ? "−" : "+"} ${Math.abs(tuned.shift).toFixed(2)}, as the validation labels say`,
		`calibration: ${bins} bins of about ${Math.round(evaluated.targets.length / bins)} labels; by chance a perfect model would have an error of ${(100 * chanceError(tuned.probabilities, bins)).toFixed(1)} points`,
	);
	rows.push({
		name: { who: "model", label: `${name}, fine-tuned`, setting: "fine-tuned" },
		...probable(evaluated, tuned.probabilities),
	});
	return { rows, calibration: calibrationBins(evaluated, tuned.probabilities).bins(options) };
}

/** Passes on the predictions of the evaluated labels. */
async function reportPredictions(
	{ dataset, evaluated, options }: TaskData,
	row: string,
	probabilities: ArrayLike<number>,
): Promise<void> {
	if (!options.onPredictions) return;
	const predictions: LabelPrediction[] = [];
	for (const [index, { patient, time, value, weight }] of evaluated.labels.entries())
		predictions.push({
			...personAt(await dataset.read(patient), time),
			time,
			weight,
			label: value,
			probability: probabilities[index],
		});
	const isWeighted = evaluated.weights.some((weight) => weight !== 1);
	const notes = isWeighted
		? [
				"labels have weights (inverse probability of censoring), which only the plain schema has: tools that leave them out give other numbers than evaluate",
			]
		: [];
	options.onPredictions({ row, predictions, notes });
}

/** The calibration error expected by chance: mean |observed − p| of a binomial fraction. */
function chanceError(probabilities: Float64Array, bins: number): number {
	const sorted = probabilities.slice().sort();
	const size = sorted.length / bins;
	let sum = 0;
	for (let bin = 0; bin < bins; bin++) {
		const members = sorted.subarray(Math.round(bin * size), Math.round((bin + 1) * size));
		const variance = members.reduce((total, p) => total + p * (1 - p), 0) / members.length ** 2;
		if (members.length > 0) sum += Math.sqrt((2 / Math.PI) * variance) / bins;
	}
	return sum;
}
