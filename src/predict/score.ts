import { InputError } from "../base/errors.js";
import { percent, table } from "../base/table.js";
import type { TimeAxis } from "../base/time.js";
import type { NewPatient } from "../data/cohort/index.js";
import type { Events } from "../model/index.js";
import { definitionOf, type Scoring } from "../model/train/finetune/classifier.js";
import { knownOn, outsideReason, type ViewedHistory } from "./histories.js";
import {
	ageText,
	dayText,
	type Moment,
	momentJson,
	spanText,
	type Timed,
} from "./user-input/moments.js";

/** The probability of a task's label on a day. */
export type LabelScore = Awaited<ReturnType<typeof labelScores>>[number][number];

export interface ScoredPatient {
	readonly patient: NewPatient;
	readonly scores: readonly LabelScore[];
}

/** Computes the probabilities of a label, wherever the model runs. */
type ScoreReader = (views: readonly ViewedHistory[]) => Promise<ArrayLike<number>>;

/** The task that a model was fine-tuned to; refuses a model without one. */
export function tunedTask<Task>(task: Task | undefined, verb: "load" | "serve"): Task {
	if (task) return task;
	throw new InputError(
		`the model was not fine-tuned to a task, so it has no label to score; ${verb} the folder that \`trajgpt finetune\` wrote, such as runs/first/tasks/insulin`,
	);
}

/** The probability of the label on days of histories, whose records are known: [histories][days]. */
export async function labelScores(
	read: ScoreReader,
	scoring: Scoring,
	histories: readonly Events[],
	days: readonly (readonly number[])[],
) {
	const views = histories.flatMap((history, i) => days[i].map((day) => knownOn(history, day)));
	const probabilities = views.length > 0 ? await read(views) : [];
	let at = 0;
	return days.map((ofHistory) =>
		ofHistory.map((time) => ({
			time,
			probability: probabilities[at],
			/** Why the task is not about the patient then, where the records tell. */
			outside: outsideReason(scoring, views[at++]),
		})),
	);
}

/** The score of one patient on one day, as programs get it. `warnings` say why it may be unreliable. */
export async function scoreJson(
	read: ScoreReader,
	scoring: Scoring,
	{ patient, axis }: Timed,
	day: number,
) {
	const [[score]] = await labelScores(read, scoring, [patient.history], [[day]]);
	const { probability, outside } = score;
	return {
		...definitionOf(scoring),
		at: momentJson(day, patient.birth, axis),
		probability,
		warnings: outside === undefined ? [] : [outside],
	};
}

/** One warning for all queries of patients whom a task is not about. */
export function outsideWarnings(
	outside: readonly { readonly id: string; readonly reason: string }[],
	all: number,
): string[] {
	const [first] = outside;
	if (!first) return [];
	return [
		`${outside.length} of ${all} predictions: ${first.reason} (${first.id} first); the probability does not apply there`,
	];
}

/** The scores of patients at moments, as `--json` prints them. */
export const scoredPatientJson = (
	{ patient: { id, sex, birth }, scores }: ScoredPatient,
	moments: readonly Moment[],
	axis: TimeAxis,
) => ({
	id,
	sex,
	scores: scores.map(({ time, probability, outside }, query) => ({
		at: moments[query]?.text,
		...momentJson(time, birth, axis),
		probability,
		...(outside !== undefined && { outside }),
	})),
});

/** What a fine-tuned model predicts, and where that is defined. */
export function definitionText({ task, definition, source, horizonDays }: Scoring): string {
	const horizon = horizonDays === undefined ? "" : `; horizon: ${spanText(horizonDays)}`;
	return `${task}: the probability of ${definition}\n${source === undefined ? "" : `defined by: ${source}${horizon}\n`}`;
}

export function scoresText(
	scoring: Scoring,
	patients: readonly ScoredPatient[],
	axis: TimeAxis,
): string {
	const rows = patients.flatMap(({ patient: { id, birth }, scores }) =>
		scores.map(({ time, probability }) => [
			id,
			dayText(time, axis),
			birth === null ? "" : ageText(time, birth),
			probability.toFixed(4),
		]),
	);
	return [
		definitionText(scoring),
		`${percent(scoring.prevalence)} of the training labels are positive\n\n`,
		table(["patient", "day", "age", "probability"], rows),
	].join("");
}
