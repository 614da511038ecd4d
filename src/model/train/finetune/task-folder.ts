import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { readJson, writeJson } from "../../../base/files/index.js";
import { hashText } from "../../../base/random.js";
import type { Label } from "../../../data/cohort/index.js";
import { precisions, recordedProviders } from "../../../engine/runtime/index.js";
import type { LinearHead } from "../../heads/label.js";
import type { ParameterValues } from "../../index.js";
import { hasCheckpoint, readCheckpoint } from "../checkpoint.js";
import { trainOptions } from "../options.js";
import { differences, runFiles, sealedFiles } from "../run-folder.js";
import { checkSeal } from "../seal.js";
import { floatWeights, type Trained } from "../trained.js";

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
			/** Of the log-odds of the model's own risk; none where it has learned no hazards of the task. */
			risk: z.number().optional(),
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

/** The command that fine-tunes a run to a task. */
export const finetuneCommand = (
	run: string,
	{ task, labelFile }: Pick<Task, "task" | "labelFile">,
	...flags: readonly string[]
): string =>
	[
		...["trajgpt finetune", run, "--task", task],
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
	const found = differences(begun.identity, now);
	if (found.length > 0)
		throw new InputError(
			`${taskFiles(run, begun.task).folder} was fine-tuned with something else: ${found.join(", ")}; ` +
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
	if (seal) checkSeal(best, seal, sealedTaskFiles(run, task), run);
	return { step, epoch, weights: floatWeights(tensors, best) };
}
