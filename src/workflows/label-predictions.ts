import { InputError } from "../base/errors.js";
import { givenLabels, type Split, splitNames } from "../cohort/index.js";
import { type LabelPrediction, personAt } from "../evaluate/index.js";
import { outsideReason, taskScorer, type ViewedHistory } from "../infer/index.js";
import { notesFor } from "../records/notes.js";
import { openRunDataset, type Trained } from "../train/index.js";
import { type ComputeOptions, openRuntime, threadsOf } from "./open-runtime.js";
import { fineTunedTask, outsideWarnings } from "./score.js";

export interface LabelPredictionOptions extends ComputeOptions {
	/** A file of labels, or a folder of MEDS label files. */
	readonly labels: string;
	/** Only labels of the patients of this split. */
	readonly split?: Split | undefined;
	/** The file that says who belongs to the split. By default the dataset does. */
	readonly splitsFrom?: string | undefined;
	/** The run's dataset, if it was moved. */
	readonly dataset?: string | undefined;
}

/** Labels per batch. */
const batchSize = 1024;

/**
 * Predicts labels with a fine-tuned model, each from the records of the run's dataset up to the very time of the
 * label. Patients outside the dataset have no records that the model could know.
 */
export async function predictLabels(
	trained: Trained,
	options: LabelPredictionOptions,
): Promise<{ readonly predictions: readonly LabelPrediction[]; readonly notes: string[] }> {
	const { labels: file, split, splitsFrom, threads = threadsOf(trained) } = options;
	const task = fineTunedTask(trained);
	if (splitsFrom !== undefined && split === undefined)
		throw new InputError(
			"`splitsFrom` needs `split`: the split whose labels are to be predicted: train, valid or test",
			{ field: "split" },
		);
	const dataset = await openRunDataset(trained.folder, trained.run, options.dataset);
	const byFile =
		split !== undefined && splitsFrom !== undefined ? { split, splitsFrom } : undefined;
	const given = await givenLabels(file, dataset.manifest.source.axis, byFile);
	const numbers = new Map(
		splitNames.flatMap((name) =>
			Array.from(
				dataset.patients(name),
				(patient) => [dataset.idOf(patient), { patient, split: name }] as const,
			),
		),
	);
	const [views, found]: [ViewedHistory[], Omit<LabelPrediction, "probability">[]] = [[], []];
	let [outside, unseen] = [0, 0];
	for (const { key, day, value } of given) {
		if (day === null)
			throw new InputError(`${file}: a label has no time; expected a column prediction_time`, {
				field: "labels",
				value: file,
			});
		const known = numbers.get(key);
		if (!known) outside++;
		if (split !== undefined && !byFile && known?.split !== split) continue;
		if (!known) {
			views.push({ tokens: [], times: [], at: day });
			found.push({ patient: key, time: day, label: value, sex: null, ageYears: null });
			continue;
		}
		const history = await dataset.read(known.patient);
		const later = history.times.findIndex((time) => time > day);
		const end = later < 0 ? history.times.length : later;
		if (end <= history.birthEvents) unseen++;
		views.push({
			...{ tokens: history.tokens.subarray(0, end), times: history.times.subarray(0, end) },
			at: day,
		});
		found.push({ ...personAt(history, day), time: day, label: value });
	}
	if (found.length === 0)
		throw new InputError(
			`${file}: no label ${split === undefined ? "" : `of the patients of split ${split} `}is left of ${given.length}; check that labels, splits and dataset name patients alike`,
			{ field: "labels", value: file },
		);
	const { provider, precision } = options;
	const runtime = await openRuntime({ threads, provider, precision }, "inference");
	const scorer = taskScorer(runtime, trained, task);
	const predictions: LabelPrediction[] = [];
	try {
		for (let first = 0; first < views.length; first += batchSize) {
			const probabilities = await scorer.probabilities(views.slice(first, first + batchSize));
			for (const [i, probability] of probabilities.entries())
				predictions.push({ ...found[first + i]!, probability });
		}
	} finally {
		await scorer.dispose();
		await runtime.dispose?.();
	}
	const left = split !== undefined && !byFile;
	const undefinedFor = views.flatMap((view, at) => {
		const reason = outsideReason(task.scoring, view);
		return reason === undefined ? [] : [{ id: found[at]!.patient, reason }];
	});
	return {
		predictions,
		notes: [
			...outsideWarnings(undefinedFor, views.length),
			...notesFor([
				[
					outside,
					`${file}: ${outside} of ${given.length} labels are of patients outside the dataset: ${left ? "left out; name their splits with --splits-from" : "predicted without records"}`,
				],
				[unseen, `${file}: ${unseen} labels have no record up to their time: predicted without`],
			]),
		],
	};
}
