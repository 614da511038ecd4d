import { existsSync, readdirSync } from "node:fs";
import type { Dataset, Split } from "../../cohort/index.js";
import { isPaperTask } from "../../cohort/label-rules.js";
import {
	type Evaluation,
	labelledTasks,
	readEvaluation,
	taskLabels,
	tasksOf,
} from "../../evaluate/index.js";
import { withoutIndexDay } from "../../evaluate/onset/task.js";
import type { MissingEvaluation } from "../../figures/report/index.js";
import type { CodeConfig } from "../../models/heads/codes.js";
import { labelsOf, runFiles, type Trained, taskFiles } from "../../train/index.js";

const taskTexts: Readonly<Record<string, string>> = {
	next: "the next record",
	forecast: "records far ahead",
};

/** The evaluations of a run: present, missing, or outdated. */
export interface Evaluations {
	readonly present: readonly Evaluation[];
	readonly missing: readonly MissingEvaluation[];
	readonly warnings: readonly string[];
}

export async function readEvaluations(
	trained: Trained,
	dataset: Dataset,
	split: Split,
): Promise<Evaluations> {
	const { folder } = trained;
	const tasks: string[] = [];
	for (const task of tasksOf(dataset))
		if (
			task === "onset"
				? canHaveOnsets(trained, dataset, split)
				: !isPaperTask(task) && (await canBeEvaluated(task, dataset, split))
		)
			tasks.push(task);
	const files = existsSync(runFiles(folder).evaluations)
		? readdirSync(runFiles(folder).evaluations)
		: [];
	const others = files
		.filter((name) => name.endsWith(".json"))
		.map((name) => name.slice(0, -".json".length))
		.filter((task) => !tasks.includes(task))
		.sort();
	const present: Evaluation[] = [];
	const missing: MissingEvaluation[] = [];
	for (const task of [...tasks, ...others]) {
		const evaluation = await readEvaluation(folder, task);
		if (evaluation) present.push({ ...evaluation, notes: evaluation.notes.map(withoutPaths) });
		else
			missing.push({
				task,
				what: taskTexts[task] ?? `the task ${task}`,
				command: `trajgpt evaluate RUN --task ${task}`,
			});
	}
	missing.push(...notFineTuned(folder, present));
	const warnings: string[] = [];
	for (const one of present)
		warnings.push(...outdated(one, trained), ...(await onOtherPatients(one, dataset, split)));
	return { present, missing, warnings };
}

/** Whether a task has positive and negative labels in the split; otherwise it cannot be evaluated. */
async function canBeEvaluated(task: string, dataset: Dataset, split: Split): Promise<boolean> {
	if (!labelledTasks(dataset).includes(task)) return true;
	const labels = labelsOf(dataset, (await taskLabels(dataset, task)).labels, split);
	return new Set(labels.map(({ value }) => value)).size === 2;
}

/** With fewer patients, no code has enough onsets. */
const fewestForOnset = 100;

/** Whether onset can be evaluated: the run has hazards, and the split patients enough. */
const canHaveOnsets = ({ config }: Trained, dataset: Dataset, split: Split): boolean =>
	Boolean((config as Pick<CodeConfig, "hazards">).hazards) &&
	dataset.patients(split).length >= fewestForOnset;

/** Removes local paths, which are private. */
const withoutPaths = (note: string): string =>
	note
		.replace(/\btrajgpt (\w+) [^\s`]+/g, "trajgpt $1 RUN")
		.replace(/(?<=^|[\s`"“])(?:~|\.{1,2})?\/[^\s`"”;,]+/g, "…");

/** Labelled tasks that were evaluated, but not fine-tuned. */
const notFineTuned = (folder: string, evaluations: readonly Evaluation[]): MissingEvaluation[] =>
	evaluations
		.filter(({ task }) => !isPaperTask(task))
		.map(({ task, rows }) => ({ task, own: rows.filter(({ who }) => who === "model") }))
		.filter(({ own }) => own.some(({ setting }) => setting !== undefined))
		.filter(({ own }) => own.every(({ setting }) => setting !== "fine-tuned"))
		.map(({ task }) => ({
			task,
			what: `${task}, fine-tuned`,
			command: `trajgpt ${existsSync(taskFiles(folder, task).best) ? "evaluate" : "finetune"} RUN --task ${task}`,
		}));

/** Warns if an evaluation covers another split, or only some of its patients. */
async function onOtherPatients(
	evaluation: Evaluation,
	dataset: Dataset,
	split: Split,
): Promise<string[]> {
	const { task } = evaluation;
	if (evaluation.split !== split)
		return [
			`The evaluation “${task}” was made on the ${evaluation.split} patients, not on the ${split} patients; evaluate again.`,
		];
	const covered = coveredPatients(evaluation);
	const all = await patientsOf(task, dataset, split);
	return covered !== undefined && all !== undefined && covered < all
		? [
				`The evaluation “${task}” was made on ${covered} of ${all} patients of the ${split} split; evaluate again.`,
			]
		: [];
}

/** The number of patients of a task; undefined if the dataset does not have the task. */
async function patientsOf(task: string, dataset: Dataset, split: Split) {
	if (!tasksOf(dataset).includes(task)) return undefined;
	if (!labelledTasks(dataset).includes(task)) return dataset.patients(split).length;
	const labels = labelsOf(dataset, (await taskLabels(dataset, task)).labels, split);
	return new Set(labels.map(({ patient }) => patient)).size;
}

/** The number of patients that an evaluation covers, including those it had to leave out. */
function coveredPatients({ task, patients, notes }: Evaluation): number | undefined {
	if (task === "onset") {
		const without = notes.find((note) => note.startsWith(withoutIndexDay)) ?? "";
		const counts = [...without.matchAll(/(?<=[:,] )\d+/g)].map(Number);
		return counts.reduce((sum, count) => sum + count, patients);
	}
	if (task !== "forecast") return patients;
	const [, all] = notes.map((note) => /^\d+ of (\d+) patients/.exec(note)).find(Boolean) ?? [];
	return all === undefined ? undefined : Number(all);
}

function outdated({ task, made }: Evaluation, { step, manifest }: Trained): string[] {
	if (made.dataset !== manifest.contentHash)
		return [`The evaluation “${task}” was made on another dataset; evaluate again.`];
	if (made.step !== step)
		return [
			`The evaluation “${task}” was made with the weights of step ${made.step}; the run now has those of step ${step}. Evaluate again.`,
		];
	return [];
}
