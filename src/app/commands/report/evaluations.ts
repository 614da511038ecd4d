import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { replaceOptions } from "../../../base/errors.js";
import { thousands } from "../../../base/thousands.js";
import type { Dataset, Label, Split } from "../../../data/cohort/index.js";
import { isPaperTask } from "../../../data/cohort/label-rules.js";
import {
	type Evaluation,
	evaluateDefaults,
	evaluatedPatients,
	labelledTasks,
	readEvaluation,
	refuseEarlier,
	taskLabels,
	tasksOf,
} from "../../../evaluate/index.js";
import { canMeasureOnset } from "../../../evaluate/onset/task.js";
import type { Report } from "../../../evaluate/report/index.js";
import type { CodeConfig } from "../../../model/heads.js";
import { labelsOf, runFiles, type Trained, taskFiles } from "../../../model/train/index.js";

type Missing = Report["missing"][number];

const taskTexts: Readonly<Record<string, string>> = {
	onset: "first records",
	next: "the next record",
	forecast: "records far ahead",
};

/** The evaluations of a run: present, missing, or outdated. */
export async function readEvaluations(trained: Trained, dataset: Dataset, split: Split) {
	const { folder } = trained;
	const labels = labelReader(dataset);
	const known = tasksOf(dataset);
	const files = existsSync(runFiles(folder).evaluations)
		? readdirSync(runFiles(folder).evaluations)
		: [];
	const others = files
		.flatMap((name) => (name.endsWith(".json") ? basename(name, ".json") : []))
		.filter((task) => !known.includes(task))
		.sort();
	refuseEarlier(folder, [...known, ...others]);
	const present: Evaluation[] = [];
	const missing: Missing[] = [];
	for (const task of [...known, ...others]) {
		const evaluation = await readEvaluation(folder, task);
		if (evaluation)
			present.push({ ...evaluation, notes: evaluation.notes.map(withoutPaths).map(asFlags) });
		else if (await canBeEvaluated(task, trained, dataset, split, labels)) {
			const command = needsTuning(task, trained)
				? `trajgpt finetune RUN --task ${task}`
				: `trajgpt evaluate RUN --task ${task}${task === "forecast" ? lookupFlag(dataset, split) : ""}`;
			missing.push({ task, what: taskTexts[task] ?? `the task ${task}`, command });
		}
	}
	for (const evaluation of present)
		missing.push(...(await notFineTuned(evaluation, trained, dataset, labels)));
	const warnings = present.flatMap((evaluation) => warningsOf(evaluation, trained, split));
	return { present, missing, warnings };
}

/** The options of `evaluate` that notes name. */
const flags: Readonly<Record<string, string>> = {
	patients: "--patients",
	regressionPatients: "--regression-patients",
	code: "--code",
};

/** A note with flags instead of option names: readers of the page run commands. */
export const asFlags = (note: string): string => replaceOptions(note, (name) => flags[name]);

type ReadLabels = (task: string, split: Split) => Promise<readonly Label[]>;

/** Makes the labels of a task once: some take a pass over all patients. */
function labelReader(dataset: Dataset): ReadLabels {
	const labels = new Map<string, ReturnType<typeof taskLabels>>();
	return async (task, split) => {
		const known = labels.get(task) ?? taskLabels(dataset, task);
		labels.set(task, known);
		return labelsOf(dataset, (await known).labels, split);
	};
}

/** Whether the run has to be fine-tuned before the task can be evaluated. */
const needsTuning = (task: string, { folder, model }: Trained): boolean =>
	task === "forecast" &&
	model.forecasting.after === "fine-tuning" &&
	!existsSync(taskFiles(folder, task).best);

/** Whether `trajgpt evaluate` can measure a task of the dataset, or will after fine-tuning. */
async function canBeEvaluated(
	task: string,
	{ model, config, run: { before } }: Trained,
	dataset: Dataset,
	split: Split,
	labels: ReadLabels,
): Promise<boolean> {
	if (dataset.patients(split).length === 0) return false;
	if (task === "onset") {
		if (!(config as Pick<CodeConfig, "hazards">).hazards) return false;
		const { people } = await evaluatedPatients(task, dataset, { split });
		return canMeasureOnset(people, {
			...evaluateDefaults,
			split,
			...(before !== undefined && { before }),
		});
	}
	if (before !== undefined || isPaperTask(task)) return false;
	if (task === "next") return model.predictsEachEvent;
	if (task === "forecast") return lookupFor(dataset, split) !== undefined;
	return hasBoth(await labels(task, split));
}

/** How many events can be observed so that some patient has later ones: the usual number, or fewer. */
function lookupFor(dataset: Dataset, split: Split): number | undefined {
	let longest = 0;
	for (const patient of dataset.patients(split))
		longest = Math.max(longest, dataset.lengthOf(patient) - dataset.birthEventsOf(patient));
	return [evaluateDefaults.lookup, 20, 10, 5].find((events) => longest > events);
}

function lookupFlag(dataset: Dataset, split: Split): string {
	const lookup = lookupFor(dataset, split);
	return lookup === evaluateDefaults.lookup ? "" : ` --lookup ${lookup}`;
}

/** Whether there are positive and negative labels. */
const hasBoth = (labels: readonly Label[]): boolean =>
	new Set(labels.map(({ value }) => value)).size === 2;

/** Removes local paths, which are private. */
const withoutPaths = (note: string): string =>
	note
		.replace(/\btrajgpt (\w+) [^\s`]+/g, "trajgpt $1 RUN")
		.replace(/(?<=^|[\s`"“])(?:~|\.{1,2})?\/[^\s`"”;,]+/g, "…");

/** A labelled task that was evaluated, but not fine-tuned, if it can be. */
async function notFineTuned(
	{ task, rows }: Evaluation,
	{ folder, run: { before } }: Trained,
	dataset: Dataset,
	labels: ReadLabels,
): Promise<Missing[]> {
	const settings = rows.flatMap(({ who, setting }) => (who === "model" && setting) || []);
	if (settings.length === 0 || settings.includes("fine-tuned") || isPaperTask(task)) return [];
	if (before !== undefined) return [];
	const isOwn = labelledTasks(dataset).includes(task);
	const isTuned = existsSync(taskFiles(folder, task).best);
	if (isOwn && !isTuned) {
		if (!hasBoth(await labels(task, "train"))) return [];
		if ((await labels(task, "valid")).length === 0) return [];
	}
	const given = isOwn ? "" : " --labels LABELS";
	return [
		{
			task,
			what: `${task}, fine-tuned`,
			command: `trajgpt ${isTuned ? "evaluate" : "finetune"} RUN --task ${task}${given}`,
		},
	];
}

/** Where an evaluation is of another dataset or other weights, or of other patients than the report. */
function warningsOf(
	{ task, split: measured, sample, made }: Evaluation,
	{ step, manifest }: Trained,
	split: Split,
): string[] {
	const warnings: string[] = [];
	const warn = (problem: string) => warnings.push(`The evaluation “${task}” was made ${problem}`);
	if (made.dataset !== manifest.contentHash) warn("on another dataset; evaluate again.");
	else if (made.step !== step)
		warn(
			`with the weights of step ${made.step}; the run now has those of step ${step}. Evaluate again.`,
		);
	if (measured !== split)
		warn(`on the ${measured} patients, not on the ${split} patients; evaluate again.`);
	// What evaluate draws at random by default is said in the notes.
	else if (sample?.how === "first")
		warn(
			`on ${thousands(sample.patients)} of ${thousands(sample.of)} patients of the ${split} split; evaluate again.`,
		);
	return warnings;
}
