import { existsSync, mkdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { contentSha256, readJson, writeJson } from "../../../base/files/index.js";
import { hashText } from "../../../base/random.js";
import type { Label } from "../../../data/cohort/index.js";
import { precisions, recordedProviders } from "../../../engine/runtime/index.js";
import type { LinearHead } from "../../heads.js";
import { initialWeights, type Model, type ParameterValues } from "../../index.js";
import { checkSeal, hasCheckpoint, readCheckpoint } from "../checkpoint.js";
import { trainOptions } from "../options.js";
import { differences, runFiles, sealedFiles } from "../run-folder.js";
import { floatWeights, readTrained, type Trained } from "../trained.js";
import { type FineTunedTask, type Pretrained, type Scoring, scoringSchema } from "./classifier.js";

const taskSchema = z.strictObject({
	kind: z.literal("trajgpt-task"),
	version: z.literal(1),
	task: z.string(),
	/** The file or folder of the labels, if they are not the dataset's. */
	labelFile: z.string().optional(),
	options: trainOptions,
	/** The dataset, the labels and the weights it was begun with. */
	identity: z.record(z.string(), z.union([z.string(), z.number()])),
	/** Where the head over the answers started; none where it learns to forecast. */
	head: z
		.strictObject({
			weight: z.array(z.number()),
			bias: z.number(),
			/** The factor of the log-odds of a regression; a model that learns from scratch starts from no regression. */
			offset: z.number().optional(),
		})
		.optional(),
	versions: z.record(z.string(), z.string()),
	threads: z.int().min(1),
	provider: z.enum(recordedProviders),
	precision: z.enum(precisions).optional(),
});

/** `task.json`: how a run is fine-tuned to a task. */
export type Task = z.infer<typeof taskSchema>;

/** What `tasks/<task>/` in a run's folder holds. */
export function taskFiles(run: string, task: string) {
	const folder = join(run, "tasks", task);
	return {
		...runFiles(folder),
		folder,
		task: join(folder, "task.json"),
		scoring: join(folder, "scoring.json"),
	};
}

/** The files that what was learned for a task depends on. */
export const sealedTaskFiles = (run: string, task: string): string[] => [
	...sealedFiles(run),
	taskFiles(run, task).task,
];

/** What a task was fine-tuned with, to know it again. */
export const taskIdentity = (trained: Trained, labels: readonly Label[]): Task["identity"] => ({
	...trained.run.dataset,
	labels: labels.length,
	labelsHash: hashText(JSON.stringify(labels)),
	pretrainedStep: trained.step,
});

export function createTask(
	run: string,
	settings: Omit<Task, "kind" | "version" | "head"> & { readonly head?: LinearHead },
): Task {
	const { folder, task: file } = taskFiles(run, settings.task);
	const { head, ...others } = settings;
	const task: Task = {
		kind: "trajgpt-task",
		version: 1,
		...others,
		...(head && { head: { ...head, weight: Array.from(head.weight) } }),
	};
	mkdirSync(folder, { recursive: true });
	writeJson(file, task, 2);
	return task;
}

export const finetuneCommand = (
	run: string,
	{ task, labelFile }: Pick<Task, "task" | "labelFile">,
	...flags: readonly string[]
): string =>
	[
		"trajgpt finetune",
		run,
		"--task",
		task,
		...(labelFile === undefined ? [] : ["--labels", labelFile]),
		...flags,
	].join(" ");

/** The task as it was begun; undefined where it was not. */
export function readTask(run: string, task: string): Task | undefined {
	const { task: file } = taskFiles(run, task);
	if (!existsSync(file)) return undefined;
	return readJson(file, taskSchema, `run \`trajgpt finetune ${run} --task ${task} --force\``);
}

/** Refuses what was fine-tuned from other weights, or to other labels. */
export function checkTask(run: string, begun: Task, now: Task["identity"]): void {
	const changed = differences(begun.identity, now);
	if (changed.length > 0)
		throw new InputError(
			`${taskFiles(run, begun.task).folder} was fine-tuned with something else: ${changed.join(", ")}; ` +
				`run \`${finetuneCommand(run, begun, "--force")}\` to begin anew`,
		);
}

/** The weights of a task's best epoch by validation; undefined where there is none yet. */
export function taskWeights(
	run: string,
	task: string,
):
	| { readonly step: number; readonly epoch: number; readonly weights: ParameterValues }
	| undefined {
	const { best } = taskFiles(run, task);
	if (!hasCheckpoint(best)) return undefined;
	const { step, epoch, tensors, seal } = readCheckpoint(best);
	if (seal) checkSeal(best, seal, sealedTaskFiles(run, task));
	return { step, epoch, weights: floatWeights(tensors, best) };
}

const fileSchema = z.strictObject({
	kind: z.literal("trajgpt-scoring"),
	version: z.literal(2),
	/** The training step of the weights that it belongs to. */
	step: z.int().min(0),
	...scoringSchema.shape,
	/** Hash of all fields above, as JSON with sorted keys and no spaces. */
	sha256: z.string(),
});

const again = (run: string, task: string) =>
	`\`${finetuneCommand(run, readTask(run, task) ?? { task }, "--resume")}\``;

/** Writes `scoring.json` of a task, for the weights of a training step. */
export function writeScoring(run: string, step: number, scoring: Scoring): void {
	const content = { kind: "trajgpt-scoring", version: 2, step, ...scoring };
	const sealed = { ...content, sha256: contentSha256(content) };
	writeJson(taskFiles(run, scoring.task).scoring, sealed, 2);
}

/** Reads `scoring.json` of a task; undefined if there is none for the weights of this training step. */
export function readScoring(run: string, task: string, step: number): Scoring | undefined {
	const { scoring: file } = taskFiles(run, task);
	if (!existsSync(file)) return undefined;
	const remedy = `remove it and run ${again(run, task)}`;
	const { sha256, ...content } = readJson(file, fileSchema, remedy);
	if (sha256 !== contentSha256(content))
		throw new InputError(`${file} was changed since it was written; ${remedy}`);
	const { kind: _kind, version: _version, step: scoredStep, ...scoring } = content;
	return scoredStep === step && scoring.task === task ? scoring : undefined;
}

function readFineTuned(run: string, task: string): FineTunedTask {
	const { folder } = taskFiles(run, task);
	if (task === "forecast")
		throw new InputError(
			`${folder} has learned to forecast, and has no labels to score; give the run: ${run}`,
		);
	readTask(run, task);
	const best = taskWeights(run, task);
	const scoring = best && readScoring(run, task, best.step);
	if (!scoring)
		throw new InputError(
			`${folder} cannot score patients yet: ${best ? "it has no scoring.json for its weights" : "no epoch of its fine-tuning is finished"}; run ${again(run, task)}`,
		);
	return { scoring, weights: best.weights };
}

/** Reads a run, or the folder of a task that a run was fine-tuned to: `tasks/<task>` in the run's folder. */
export function readModel(folder: string): Trained {
	if (existsSync(runFiles(folder).run)) return readTrained(folder);
	const [run, task] = [join(folder, "..", ".."), basename(resolve(folder))];
	if (!existsSync(join(folder, "task.json")) || !existsSync(taskFiles(run, task).task))
		return readTrained(folder);
	return { ...readTrained(run), task: readFineTuned(run, task) };
}

/** A pre-trained model that learns to forecast, where that needs fine-tuning. */
export const forecaster = ({ model, weights }: Pretrained): Model => ({
	...model,
	...(model.ahead && {
		objectives: { next: model.ahead, horizon: model.ahead, visits: model.ahead },
	}),
	init: () => weights,
});

/** What fine-tuning starts from: what was learned without labels, or nothing where that is the model's way. */
export const fineTuningStart = (trained: Trained): Trained =>
	trained.model.pretraining === "none"
		? {
				...trained,
				weights: initialWeights(trained.model, trained.config, trained.run.options.seed),
			}
		: trained;

/** The weights that answer questions: those of the run, or those fine-tuned to forecast. */
export function forecastWeights({ folder, model, weights }: Trained): ParameterValues {
	if (model.forecasting.after === "pretraining") return weights;
	const tuned = taskWeights(folder, "forecast");
	if (tuned) return tuned.weights;
	throw new InputError(
		`${model.name} forecasts after fine-tuning; run \`trajgpt finetune ${folder} --task forecast\``,
	);
}
