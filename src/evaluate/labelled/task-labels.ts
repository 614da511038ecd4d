import { InputError } from "../../base/errors.js";
import type { Dataset, Label, Split } from "../../data/cohort/index.js";
import { labelsOfTask, type Mark, taskOfLabels } from "../../data/cohort/label-rules.js";
import { spanText } from "../../predict/user-input/index.js";
import { onsetHorizonDays, onsetLabels } from "../onset/onset-labels.js";
import { markedTokens } from "./task-codes.js";

/** Tasks of a first record within a time after an index day, which need no labels in the dataset. */
const onsetTasks: Readonly<Record<string, { readonly mark: Mark; readonly what: string }>> = {
	chf: { mark: "heart-failure", what: "heart failure (PheCode 428)" },
	diabetes: { mark: "diabetes", what: "diabetes (PheCode 250)" },
};

/** What an onset task is about. */
export const onsetTask = (task: string) => onsetTasks[task]!;

/** Whether a task is about onset after an index day in this dataset; its own labels come first. */
export const isOnsetTask = ({ manifest, vocabulary }: Dataset, task: string): boolean =>
	Object.hasOwn(onsetTasks, task) &&
	!manifest.labels.some((label) => taskOfLabels(label.task) === task) &&
	markedTokens(vocabulary, onsetTasks[task]!.mark).length > 0;

/** The yes-or-no tasks of a dataset. */
export const labelledTasks = (dataset: Dataset): string[] => [
	...Object.keys(onsetTasks).filter((task) => isOnsetTask(dataset, task)),
	...dataset.manifest.labels.map(({ task }) => taskOfLabels(task)),
];

export interface TaskLabels {
	/** Of all splits. */
	readonly labels: readonly Label[];
	/** How to read them, for a split. */
	notes(split: Split): string[];
}

/** The labels of a yes-or-no task. */
export async function taskLabels(dataset: Dataset, task: string): Promise<TaskLabels> {
	if (isOnsetTask(dataset, task)) {
		const { mark, what } = onsetTasks[task]!;
		const { labels, censored } = await onsetLabels(dataset, markedTokens(dataset.vocabulary, mark));
		return {
			labels,
			notes: (split) => [
				`${task}: first record of ${what} within ${spanText(onsetHorizonDays)} of an index day, one random day in the middle 30 to 70 % of each patient's observed time, after 365 days of observation; patients who have it by then are left out`,
				`${censored[split]} patients whose observation ends before count through the weights of the others (inverse probability of censoring); death without it is a no`,
			],
		};
	}
	if (taskOfLabels(task) !== task)
		throw new InputError(
			`${dataset.folder} has no task "${task}": no token of its vocabulary is ${onsetTasks[task]?.what}; it has ${labelledTasks(dataset).join(", ") || "none"}`,
			{ field: "task", value: task },
		);
	return {
		labels: await dataset.labels(labelsOfTask(task)),
		notes: () => notesOf[task] ?? [],
	};
}

const notesOf: Readonly<Record<string, string[]>> = {
	"chf-paper": [
		"chf-paper is the paper's construction: cases are asked before the day of their first record of 428, all others before their last day. The day depends on the outcome, so this is not a prediction that can be made: see --task chf",
	],
	insulin: [
		"insulin: prescribed within 183 days of the first diabetes record, the same day included; patients with a shorter record and no insulin are left out",
	],
};
