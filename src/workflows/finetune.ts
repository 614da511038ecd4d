import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { checkConfig } from "../base/config.js";
import { InputError } from "../base/errors.js";
import type { Dataset, Label } from "../cohort/index.js";
import { probe } from "../evaluate/index.js";
import type { Model } from "../models/index.js";
import {
	checkTask,
	classifier,
	createTask,
	fineTuningStart,
	finetuneOptions,
	forecaster,
	holdingRun,
	labelBatches,
	labelsOf,
	type PretrainRequest,
	type PretrainSummary,
	readTask,
	sealedTaskFiles,
	type Task,
	type Trained,
	type TrainOptions,
	taskFiles,
	taskIdentity,
	trainOptions,
} from "../train/index.js";
import { checkResumed, type Monitoring, train } from "./training.js";
import { versions } from "./versions.js";

/** How a run is fine-tuned. */
export interface FinetuneOptions extends Monitoring {
	/** `forecast`, or a task that the dataset has labels for. */
	readonly task: string;
	/** Those of `finetuneOptions` that differ from their defaults. */
	readonly training?: Readonly<Record<string, unknown>> | undefined;
	/**
	 * Whether to go on with what was interrupted, which keeps its own settings: others are refused.
	 * `"if-begun"` begins where nothing was, and otherwise keeps the settings there.
	 */
	readonly resume?: boolean | "if-begun" | undefined;
	/** Replaces what an earlier call made. */
	readonly replace?: boolean | undefined;
	/** All cores, or those of the training that is resumed, if left out. */
	readonly threads?: number | undefined;
}

export interface FinetuneSummary extends PretrainSummary {
	/** Where the fine-tuned weights are. */
	readonly folder: string;
	/** Of the training patients. */
	readonly labels: number;
	readonly positive: number;
}

/** What is learned for a task: from which labels, and how a run becomes a model that learns from them. */
interface TaskTraining {
	/** None where it learns to forecast. */
	readonly labels?: Readonly<Record<"train" | "valid", readonly Label[]>>;
	readonly positive: number;
	readonly identity: Task["identity"];
	readonly options: TrainOptions;
	model(settings: Task): Model;
	readonly batchesOf?: NonNullable<PretrainRequest["batchesOf"]>;
}

/**
 * Fine-tunes a run to a task, end to end, in `tasks/<task>/` of its folder. The run itself stays as it is.
 *
 * @example
 * const run = readTrained("runs/first");
 * await finetune(run, await openRunDataset(run.folder, run.run), { task: "insulin" });
 */
export async function finetune(
	run: Trained,
	dataset: Dataset,
	options: FinetuneOptions,
): Promise<FinetuneSummary> {
	const { task, threads, progress, signal } = options;
	const trained = fineTuningStart(run);
	const { folder } = taskFiles(trained.folder, task);
	const training =
		task === "forecast"
			? forecastTraining(trained, options)
			: await labelTraining(trained, dataset, options);
	const begun = readBegun(trained, options, training.identity);
	return holdingRun(folder, async () => {
		const settings = begun ?? (await begin(trained, dataset, options, training));
		const summary = await train({
			folder,
			run: {
				...settings,
				model: trained.run.model,
				config: trained.run.config,
				dataset: settings.identity,
			},
			model: training.model(settings),
			dataset,
			...(training.batchesOf && { batchesOf: training.batchesOf }),
			resume: begun !== undefined,
			sealed: sealedTaskFiles(trained.folder, task),
			...{ threads, progress, signal },
		});
		const { labels, positive } = training;
		return { ...summary, folder, labels: labels?.train.length ?? 0, positive };
	});
}

/** Most events of a history that the model sees in fine-tuning. */
const longest = ({ model, config }: Trained, maxLength: number) =>
	Math.min(maxLength, model.context?.(config) ?? Number.POSITIVE_INFINITY);

/** What is not pre-trained learns a task as it learned to forecast, until validation stops improving. */
export const fromScratch = { epochs: 20, patience: 3 } as const;

async function labelTraining(
	trained: Trained,
	dataset: Dataset,
	{ task, training: given }: FinetuneOptions,
): Promise<TaskTraining> {
	const labels = await dataset.labels(task);
	const own = {
		train: labelsOf(dataset, labels, "train"),
		valid: labelsOf(dataset, labels, "valid"),
	};
	const positive = checkLabels(dataset, task, own);
	const options = checkConfig(
		finetuneOptions,
		{
			...(trained.model.pretraining === "none" && {
				...fromScratch,
				learningRate: trained.run.options.learningRate,
			}),
			...given,
		},
		"fine-tuning options",
	);
	return {
		labels: own,
		positive,
		identity: taskIdentity(trained, labels),
		options: trainOptions.parse({
			...options,
			...{ cut: "last", objective: "next", horizon: 0 },
			maxLength: longest(trained, options.maxLength),
		}),
		model({ head }) {
			if (!head) throw new Error(`task ${task} has no head`);
			return classifier(trained, { ...head, weight: Float32Array.from(head.weight) });
		},
		batchesOf: (split, plan) => labelBatches(dataset, own[split], plan),
	};
}

/** Of models that forecast after fine-tuning: as long as the labels teach, at the pace of the pre-training. */
function forecastTraining(
	trained: Trained,
	{ training: given = {} }: FinetuneOptions,
): TaskTraining {
	const { model, folder, run } = trained;
	if (model.forecasting.after === "pretraining")
		throw new InputError(
			`${model.name} forecasts as it was trained; run \`trajgpt evaluate ${folder} --task forecast\``,
		);
	const { epochs } = checkConfig(finetuneOptions, given, "fine-tuning options");
	return {
		positive: 0,
		identity: taskIdentity(trained, []),
		options: checkConfig(trainOptions, { ...run.options, epochs, ...given }, "fine-tuning options"),
		model: () => forecaster(trained),
	};
}

/** The task that is resumed; undefined where one is to begin. */
function readBegun(
	{ folder: run }: Trained,
	{ task, training = {}, resume, replace }: FinetuneOptions,
	identity: Task["identity"],
): Task | undefined {
	if (replace) return undefined;
	const begun = readTask(run, task);
	if (begun && !resume)
		throw new InputError(
			`${taskFiles(run, task).folder} is there already; pass \`resume\` to go on with it, or \`replace\` to begin anew`,
			{ field: "resume", value: resume },
		);
	if (!begun && resume === true)
		throw new InputError(`${task} was not begun in ${run}; leave out \`resume\` to begin it`, {
			field: "resume",
			value: resume,
		});
	if (!begun) return undefined;
	checkTask(run, begun, identity);
	if (resume === true) checkResumed("task", begun.options, training, "begin anew with `replace`");
	return begun;
}

/** Places the head, where there is one, and writes `task.json`; what lay in the folder is removed. */
async function begin(
	trained: Trained,
	dataset: Dataset,
	{ task, threads = availableParallelism(), progress }: FinetuneOptions,
	{ labels, identity, options }: TaskTraining,
): Promise<Task> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const files = taskFiles(trained.folder, task);
	for (const place of [files.task, files.log, files.tensorboard, files.checkpoint, files.best])
		rmSync(place, { recursive: true, force: true });
	if (labels)
		progress?.note(`placing the head by ${labels.train.length} labels, the model as it is`);
	const runtime = nodeRuntime({ threads, purpose: "inference" });
	return createTask(trained.folder, {
		...{ task, options, identity, threads },
		...(labels && { head: await probe(runtime, trained, dataset, labels, options.maxLength) }),
		versions: await versions(),
		provider: "cpu",
	});
}

/** Labels that nothing can be learned from: another dataset has others, so a comparison goes on without. */
export class TooFewLabels extends InputError {}

/** Refuses labels that nothing can be learned from; gives the positives among those to learn from. */
function checkLabels(
	{ folder }: Dataset,
	task: string,
	{ train, valid }: Readonly<Record<"train" | "valid", readonly Label[]>>,
): number {
	const positive = train.filter(({ value }) => value).length;
	if (positive === 0 || positive === train.length)
		throw new TooFewLabels(
			`${folder}: ${positive} of the ${train.length} labels of ${task} in split train are positive; ` +
				"both answers are needed to learn anything: prepare more patients",
		);
	if (valid.length === 0)
		throw new TooFewLabels(
			`${folder} has no labels of ${task} in split valid, by which the best epoch is chosen: prepare more patients`,
		);
	return positive;
}
