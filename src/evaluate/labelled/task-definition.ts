import type { Dataset } from "../../cohort/index.js";
import { insulinDays, labelRules } from "../../cohort/label-rules.js";
import { spanText } from "../../infer/user-input/index.js";
import { onsetHorizonDays } from "../onset/onset-labels.js";
import { isOnsetTask, onsetTaskWords } from "./task-labels.js";

/** What a positive label of a task means, as the end of the sentence "the probability of …". */
export function taskDefinition(dataset: Dataset, task: string): string {
	if (isOnsetTask(dataset, task))
		return `a first record of ${onsetTaskWords(task)} within ${spanText(onsetHorizonDays)}, in patients without one`;
	if (task === "insulin")
		return `insulin within ${insulinDays} days of the first record of diabetes (PheCode 250), asked on the day of that record`;
	if (task === "chf-paper") return labelRules.chf;
	return `a positive label of task ${task}, as its labels define it`;
}
