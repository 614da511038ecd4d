import { InputError } from "../../base/errors.js";
import {
	type Dataset,
	type GivenLabel,
	givenLabels,
	labelUnitOf,
	labelWarnings,
	type SeenLabel,
	type Split,
	splitNames,
} from "../../data/cohort/index.js";
import { notesFor } from "../../data/records/bad-rows.js";
import type { TimeIs } from "../../data/records/tables/column-names.js";
import { type ComputeOptions, openRuntime, threadsOf } from "../../engine/runtime/open-runtime.js";
import { type LabelPrediction, personAt } from "../../evaluate/index.js";
import type { FineTunedTask } from "../../model/train/finetune/classifier.js";
import { openRunDataset, type Trained } from "../../model/train/index.js";
import { outsideReason, taskScorer, type ViewedHistory } from "../../predict/index.js";
import { outsideWarnings } from "../../predict/score.js";
import { fineTunedTask } from "./score.js";

export interface LabelPredictionOptions extends ComputeOptions {
	/** A file of labels, or a folder of MEDS label files. */
	readonly labels: string;
	/** The unit of their times, if it is not that of the dataset's records. */
	readonly labelTimeIs?: TimeIs | undefined;
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
): Promise<{
	readonly predictions: readonly LabelPrediction[];
	readonly notes: string[];
	readonly warnings: string[];
}> {
	const { labels: file, split, splitsFrom } = options;
	const task = fineTunedTask(trained);
	if (splitsFrom !== undefined && split === undefined)
		throw new InputError(
			"`splitsFrom` needs `split`: the split whose labels are to be predicted: train, valid or test",
			{ field: "split" },
		);
	const dataset = await openRunDataset(trained.folder, trained.run, options.dataset);
	const byFile =
		split !== undefined && splitsFrom !== undefined ? { split, splitsFrom } : undefined;
	const beside = labelUnitOf(dataset, options.labelTimeIs);
	const given = await givenLabels(file, beside, byFile);
	const within = byFile ? undefined : split;
	const { asked, outside, seen, unseen } = await questionsOf(dataset, given, { file, within });
	if (asked.length === 0)
		throw new InputError(
			`${file}: no label ${split === undefined ? "" : `of the patients of split ${split} `}is left of ${given.length}; check that labels, splits and dataset name patients alike`,
			{ field: "labels", value: file },
		);
	const warnings = await labelWarnings(dataset, file, seen, unseen, beside.unit);
	const probabilities = await probabilitiesOf(trained, task, asked, options);
	const undefinedFor = asked.flatMap(({ view, label }) => {
		const reason = outsideReason(task.scoring, view);
		return reason === undefined ? [] : [{ id: label.patient, reason }];
	});
	return {
		predictions: asked.map(({ label }, at) => ({
			...label,
			probability: probabilities[at] as number,
		})),
		notes: [
			...outsideWarnings(undefinedFor, asked.length),
			...notesFor([
				[
					outside,
					`${file}: ${outside} of ${given.length} labels are of patients outside the dataset: ${within === undefined ? "predicted without records" : "left out; name their splits with --splits-from"}`,
				],
				[unseen, `${file}: ${unseen} labels have no record up to their time: predicted without`],
			]),
		],
		warnings,
	};
}

/** A label to predict, and what is known at its time. */
interface Question {
	readonly view: ViewedHistory;
	readonly label: Omit<LabelPrediction, "probability">;
}

/** The labels of a split, or all of them, with the records up to their times. */
async function questionsOf(
	dataset: Dataset,
	given: readonly GivenLabel[],
	{ file, within }: { readonly file: string; readonly within: Split | undefined },
): Promise<{
	readonly asked: readonly Question[];
	/** Labels of patients outside the dataset. */
	readonly outside: number;
	readonly seen: readonly SeenLabel[];
	/** Labels without a record up to their time. */
	readonly unseen: number;
}> {
	const numbers = new Map(
		splitNames.flatMap((split) =>
			Array.from(
				dataset.patients(split),
				(patient) => [dataset.idOf(patient), { patient, split }] as const,
			),
		),
	);
	const asked: Question[] = [];
	const seen: SeenLabel[] = [];
	let [outside, unseen] = [0, 0];
	for (const { key, day, value } of given) {
		if (day === null)
			throw new InputError(`${file}: a label has no time; expected a column prediction_time`, {
				field: "labels",
				value: file,
			});
		const known = numbers.get(key);
		if (!known) outside++;
		if (within !== undefined && known?.split !== within) continue;
		if (!known) {
			asked.push({
				view: { tokens: [], times: [], at: day },
				label: { patient: key, time: day, label: value, sex: null, ageYears: null },
			});
			continue;
		}
		const history = await dataset.read(known.patient);
		const later = history.times.findIndex((time) => time > day);
		const end = later < 0 ? history.times.length : later;
		if (end <= history.birthEvents) unseen++;
		else seen.push({ time: day, lastRecord: history.times.at(-1) as number });
		const [tokens, times] = [history.tokens.subarray(0, end), history.times.subarray(0, end)];
		asked.push({
			view: { tokens, times, at: day },
			label: { ...personAt(history, day), time: day, label: value },
		});
	}
	return { asked, outside, seen, unseen };
}

/** The probability of each label, in order. */
async function probabilitiesOf(
	trained: Trained,
	task: FineTunedTask,
	asked: readonly Question[],
	{ communicator, provider, precision, ...options }: ComputeOptions,
): Promise<number[]> {
	const { threads = threadsOf(trained, communicator) } = options;
	const compute = { threads, provider, precision, communicator };
	const runtime = await openRuntime(compute, "inference");
	const scorer = taskScorer(runtime, trained, task);
	const views = asked.map(({ view }) => view);
	const found: number[] = [];
	try {
		for (let first = 0; first < views.length; first += batchSize)
			found.push(...(await scorer.probabilities(views.slice(first, first + batchSize))));
		return found;
	} finally {
		await scorer.dispose();
		await runtime.dispose?.();
	}
}
