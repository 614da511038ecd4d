import type { Dataset, Label } from "../../data/cohort/index.js";
import type { EvaluateOptions } from "../options.js";
import type { PatientRow } from "../rows.js";
import type { LabelSet } from "./label-set.js";
import { probabilityStatistics } from "./statistics.js";
import type { TaskCodes } from "./task-codes.js";

/** What the rows of a labelled task are computed from. */
export interface TaskData {
	readonly task: string;
	readonly dataset: Dataset;
	/** The dataset of the training and validation labels. */
	readonly home: Dataset;
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
