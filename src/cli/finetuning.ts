import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { checkConfig } from "../base/config.js";
import { InputError } from "../base/errors.js";
import type { Dataset, Label } from "../cohort/index.js";
import { probe } from "../evaluate/index.js";
import {
	checkTask,
	classifier,
	createTask,
	finetuneOptions,
	holdingRun,
	labelsOf,
	type PretrainSummary,
	questionBatches,
	readTask,
	type Task,
	type Trained,
	taskFiles,
	taskIdentity,
	trainOptions,
} from "../train/index.js";
import type { Io } from "./io.js";
import { train, versions } from "./training.js";

export interface Finetuning {
	readonly trained: Trained;
	readonly dataset: Dataset;
	readonly task: string;
	/** Those of `finetuneOptions` that differ from their defaults. */
	readonly options: Readonly<Record<string, unknown>>;
	readonly resume: boolean;
	/** Replaces what an earlier call made. */
	readonly force?: boolean;
	/** All cores, or those of the run that goes on, if left out. */
	readonly threads?: number;
}

export interface FinetuningOutcome {
	readonly folder: string;
	readonly summary: PretrainSummary;
	readonly exitCode: number;
	/** Of the training patients. */
	readonly labels: number;
	readonly positive: number;
}

/** Fine-tunes a run to the labels of a task, end to end, in `tasks/<task>/` of its folder. */
export async function finetune(io: Io, finetuning: Finetuning): Promise<FinetuningOutcome> {
	const { trained, dataset, task, resume, threads } = finetuning;
	const { folder: run } = trained;
	const { folder } = taskFiles(run, task);
	const labels = await dataset.labels(task);
	const own = {
		train: labelsOf(dataset, labels, "train"),
		valid: labelsOf(dataset, labels, "valid"),
	};
	const positive = checkLabels(dataset, task, own);
	const identity = taskIdentity(trained, labels);
	const begun = readBegun(finetuning, identity);
	const options = checkConfig(finetuneOptions, finetuning.options, "fine-tuning options");
	return holdingRun(folder, async () => {
		const settings = begun ?? (await begin(io, finetuning, own, options, identity));
		const head = { ...settings.head, weight: Float32Array.from(settings.head.weight) };
		const { summary, exitCode } = await train(io, {
			folder,
			run: {
				...settings,
				model: trained.run.model,
				config: trained.run.config,
				dataset: settings.identity,
			},
			model: classifier(trained, head),
			dataset,
			batchesOf: (split, plan) => questionBatches(dataset, own[split], plan),
			resume: resume && begun !== undefined,
			...(threads && { threads }),
		});
		return { folder, summary, exitCode, labels: own.train.length, positive };
	});
}

/** The task that goes on; undefined where one is to begin. */
function readBegun(
	{ trained, task, options, resume, force }: Finetuning,
	identity: Task["identity"],
): Task | undefined {
	const { folder: run } = trained;
	const { folder } = taskFiles(run, task);
	if (force) return undefined;
	const begun = readTask(run, task);
	if (begun && !resume)
		throw new InputError(
			`${folder} is there already; pass --resume to go on with it, or --force to begin anew`,
		);
	if (!begun && resume)
		throw new InputError(`${task} was not begun in ${run}; leave out --resume to begin it`);
	if (!begun) return undefined;
	checkTask(run, begun, identity);
	const kept: Readonly<Record<string, unknown>> = begun.options;
	for (const [name, value] of Object.entries(options))
		if (kept[name] !== value)
			throw new InputError(
				`--resume goes on with the task's own settings: ${name} is ${kept[name]} there, ${value} here; ` +
					"leave it out, or begin anew with --force",
			);
	return begun;
}

/** Places the head and writes `task.json`; what lay in the folder is removed. */
async function begin(
	io: Io,
	{ trained, dataset, task, threads = availableParallelism() }: Finetuning,
	labels: Readonly<Record<"train" | "valid", readonly Label[]>>,
	options: ReturnType<typeof finetuneOptions.parse>,
	identity: Task["identity"],
): Promise<Task> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const files = taskFiles(trained.folder, task);
	for (const place of [files.task, files.log, files.tensorboard, files.checkpoint, files.best])
		rmSync(place, { recursive: true, force: true });
	io.stderr.write(`placing the head by ${labels.train.length} labels, the model as it is\n`);
	const runtime = nodeRuntime({ threads, purpose: "inference" });
	return createTask(trained.folder, {
		task,
		options: trainOptions.parse({ ...options, cut: "last", objective: "next", horizon: 0 }),
		identity,
		head: await probe(runtime, trained, dataset, labels),
		versions: await versions(),
		threads,
		provider: "cpu",
	});
}

/** Refuses labels that nothing can be learned from; gives the positives among those to learn from. */
function checkLabels(
	{ folder }: Dataset,
	task: string,
	{ train, valid }: Readonly<Record<"train" | "valid", readonly Label[]>>,
): number {
	const positive = train.filter(({ value }) => value).length;
	if (positive === 0 || positive === train.length)
		throw new InputError(
			`${folder}: ${positive} of the ${train.length} labels of ${task} in split train are positive; ` +
				"both answers are needed to learn anything: prepare more patients",
		);
	if (valid.length === 0)
		throw new InputError(
			`${folder} has no labels of ${task} in split valid, by which the best epoch is chosen: prepare more patients`,
		);
	return positive;
}
