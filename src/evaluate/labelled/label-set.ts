import type { Dataset, History, Label, Split } from "../../data/cohort/index.js";
import { labelsOf } from "../../model/train/index.js";
import type { ViewedHistory } from "../../predict/index.js";
import type { EvaluateOptions } from "../options.js";
import type { PatientRow } from "../rows.js";
import { type LabelledPatients, probabilityStatistics } from "./statistics.js";
import type { TaskCodes } from "./task-labels.js";

/** The labels of a split. */
export interface LabelSet extends LabelledPatients {
	readonly labels: readonly Label[];
	readonly weights: Float64Array;
}

export function labelSetOf(dataset: Dataset, all: readonly Label[], split: Split): LabelSet {
	const labels = labelsOf(dataset, all, split);
	const numbers = new Map<number, number>();
	for (const { patient } of labels) if (!numbers.has(patient)) numbers.set(patient, numbers.size);
	return {
		labels,
		weights: Float64Array.from(labels, ({ weight = 1 }) => weight),
		targets: Uint8Array.from(labels, ({ value }) => Number(value)),
		patients: Int32Array.from(labels, ({ patient }) => numbers.get(patient)!),
		count: numbers.size,
	};
}

/** The part of a history that a label lets the model see, represented at the label's time. */
export async function viewOf(
	dataset: Dataset,
	label: Label,
): Promise<ViewedHistory & Pick<History, "tokens" | "times" | "birthEvents">> {
	const { tokens, times, birthEvents } = await dataset.read(label.patient);
	const seen = birthEvents + label.events;
	return {
		tokens: tokens.subarray(0, seen),
		times: times.subarray(0, seen),
		birthEvents,
		at: label.time,
	};
}

export const viewsOf = (dataset: Dataset, labels: readonly Label[]) =>
	Promise.all(labels.map((label) => viewOf(dataset, label)));

/** What the rows of a labelled task are computed from. */
export interface TaskData {
	readonly task: string;
	readonly dataset: Dataset;
	/** The dataset of the training and validation labels. */
	readonly trainingDataset: Dataset;
	readonly options: EvaluateOptions;
	readonly labels: readonly Label[];
	readonly train: LabelSet;
	readonly valid: LabelSet;
	readonly evaluated: LabelSet;
	readonly codes: TaskCodes | undefined;
}

export const positivesOf = ({ targets }: LabelSet) => targets.reduce((a, b) => a + b, 0);

/** Scores of any scale: only their ranking is measured. */
export const ranked = (
	labelled: LabelSet,
	scores: ArrayLike<number>,
): Omit<PatientRow, "name"> => ({
	byPatient: { scored: { labelled, scores: [scores] } },
});

/** Scores that are probabilities, so their distance from the labels is also measured. */
export const probable = (
	labelled: LabelSet,
	probabilities: ArrayLike<number>,
): Omit<PatientRow, "name"> => ({
	...ranked(labelled, probabilities),
	more: probabilityStatistics(labelled, probabilities),
});
