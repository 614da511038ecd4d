import { rmSync } from "node:fs";
import { z } from "zod";
import { oneProcess, shared } from "../../base/communicator.js";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { versions } from "../../base/files/versions.js";
import { isoDate } from "../../base/time.js";
import {
	type BatchOptions,
	type Dataset,
	type Label,
	type SplitBatches,
	splitBatches,
} from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import {
	type ComputeOptions,
	checkProvider,
	ownCores,
	withRuntime,
} from "../../engine/runtime/open-runtime.js";
import {
	fitScoring,
	type LabelStart,
	labelSetOf,
	labelStart,
	probe,
	taskLabels,
} from "../../evaluate/index.js";
import type { Model } from "../../model/index.js";
import * as tuning from "../../model/train/index.js";
import { defineCommand } from "./define-command.js";
import { computeFields, datasetField, flag, option, threadsField } from "./fields.js";
import { endInterrupted, interruptible } from "./interruptible.js";
import { communicatorOf, printJson, progressOf } from "./io.js";
import {
	labelsField,
	labelTimeField,
	openRun,
	runArgument,
	withDatasetWarning,
	withGivenLabels,
} from "./open-run.js";
import { checkResumed, type Monitoring, train, trainedText } from "./pretrain/training.js";

const description = `Fine-tune a run, end to end, to a task that the dataset has labels for.

Fine-tuning starts from a ridge regression of the labels on age, sex and earlier records,
around the model's own risk where it has learned hazards of the task's code. A linear
head reads the log-odds of this regression and the mean of the model's hidden states up
to the time of the label; head and model are trained together on the labels of the
training patients. The epoch with the lowest validation loss is kept in RUN/tasks/TASK,
and the validation labels say how much of it is added to the regression. The run itself
does not change.
Models that cannot forecast after pre-training (BiTimelyGPT, PatchTST) learn it with
--task forecast, by default with the settings of their pre-training. Models without
pre-training (GRU-D and others) learn every task from scratch.
Ctrl-C saves and exits with 130; --resume continues and ends with the same weights, bit
for bit.`;

export const command = defineCommand({
	name: "finetune",
	description,
	arguments: runArgument,
	options: {
		task: option(
			"name",
			"task to learn: chf, diabetes, insulin, a task from prepare --label, or forecast",
			z.string(),
		),
		...tuning.finetuneOptions.shape,
		labels: labelsField,
		labelTimeIs: labelTimeField("--labels"),
		dataset: datasetField,
		threads: threadsField,
		...computeFields(),
		resume: flag("resume an interrupted fine-tuning, with its own settings"),
		force: flag("replace an earlier fine-tuning and start over"),
		json: flag("print the summary as one JSON document"),
	},
	examples: {
		"trajgpt finetune runs/sim --task insulin": "predict who will need insulin",
		"trajgpt finetune runs/sim --task chf --resume": "after Ctrl-C, or a power cut",
		"trajgpt finetune runs/sim --task stroke --labels labels/stroke":
			"labels that `trajgpt tasks` wrote",
		"trajgpt evaluate runs/sim --task insulin": "compare it with zero-shot and few-shot",
	},
	run: (io, { run, task, dataset, ...options }, { typed, typedIn }) =>
		interruptible(io, async (signal) => {
			const { threads, provider, precision, resume, force, json } = options;
			const trained = openRun(io, run);
			const opened = withDatasetWarning(io, await tuning.openRunDataset(run, trained.run, dataset));
			const summary = await finetune(trained, await withGivenLabels(io, opened, task, options), {
				task,
				threads,
				precision,
				resume,
				replace: force,
				signal,
				communicator: communicatorOf(io),
				progress: progressOf(io),
				provider: typed.has("provider") ? provider : undefined,
				training: typedIn(tuning.finetuneOptions),
			});
			const { folder, labels, positive, ...training } = summary;
			if (json) printJson(io, { run, task, folder, labels, positive, ...training });
			else io.stdout.write(render(task, summary));
			endInterrupted(summary, signal);
		}),
});

function render(task: string, summary: FinetuneSummary): string {
	const { folder, labels, positive } = summary;
	const labelsText = labels > 0 ? ` over ${labels} labels of ${task}, ${positive} positive` : "";
	return trainedText(folder, summary, ({ loss }) => loss.toFixed(4), labelsText);
}

/** Options of fine-tuning. */
export interface FinetuneOptions extends Monitoring, ComputeOptions {
	/** `forecast`, or a labelled task of the dataset. */
	readonly task: string;
	/** The `finetuneOptions` that differ from their defaults. */
	readonly training?: Readonly<Record<string, unknown>> | undefined;
	/** Fewer epochs where they would take more steps: as many as fit, at least one. Default: no limit. */
	readonly mostSteps?: number | undefined;
	/**
	 * Whether to resume an interrupted fine-tuning with its own settings; other settings are rejected.
	 * `"if-begun"` resumes if there is one, with its settings, and begins one otherwise.
	 */
	readonly resume?: boolean | "if-begun" | undefined;
	/** Whether to replace an earlier fine-tuning. */
	readonly replace?: boolean | undefined;
}

export interface FinetuneSummary extends tuning.PretrainSummary {
	/** The folder of the fine-tuned weights. */
	readonly folder: string;
	/** Labels of the training patients. */
	readonly labels: number;
	readonly positive: number;
}

/** What a task is trained on, and the model to train. */
interface TaskTraining {
	/** Undefined for the task `forecast`. */
	readonly start?: LabelStart;
	readonly positive: number;
	readonly identity: tuning.Task["identity"];
	readonly options: tuning.TrainOptions;
	model(settings: tuning.Task): Model;
	readonly batchesOf?: NonNullable<tuning.PretrainRequest["batchesOf"]>;
}

/**
 * Fine-tunes a run to a task, end to end, in `tasks/<task>/` of its folder. The run itself does not change.
 *
 * @example
 * const run = readTrained("runs/first");
 * await finetune(run, await openRunDataset(run.folder, run.run), { task: "insulin" });
 */
export async function finetune(
	run: tuning.Trained,
	dataset: Dataset,
	options: FinetuneOptions,
): Promise<FinetuneSummary> {
	const { task, communicator = oneProcess } = options;
	if (run.run.before !== undefined)
		throw new InputError(
			`${run.folder} was trained on records up to ${isoDate(run.run.before)}, for task onset alone; labels would show it later ones: fine-tune a run of the whole dataset`,
		);
	const trained = tuning.fineTuningStart(run);
	const { folder } = tuning.taskFiles(trained.folder, task);
	const training =
		task === "forecast"
			? forecastTraining(trained, dataset, options)
			: await withRuntime(options, "inference", (runtime) =>
					labelTraining(runtime, trained, dataset, options),
				);
	const begun = readBegun(trained, options, training.identity);
	communicator.barrier();
	const work = async () => {
		const settings =
			begun ?? (await shared(communicator, () => begin(trained, dataset, options, training)));
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
			sealed: tuning.sealedTaskFiles(trained.folder, task),
			options,
		});
		const { start, positive } = training;
		if (start && summary.best && !summary.interrupted && communicator.rank === 0)
			await keepScoring(trained, dataset, options, settings, start);
		return { ...summary, folder, labels: start?.labels.train.length ?? 0, positive };
	};
	return tuning.holdingRun(folder, work, communicator);
}

/** Writes `scoring.json`, with which new patients are scored, unless it is there. */
async function keepScoring(
	trained: tuning.Trained,
	dataset: Dataset,
	{ task, threads, provider, precision }: FinetuneOptions,
	settings: tuning.Task,
	start: LabelStart,
): Promise<void> {
	const best = tuning.taskWeights(trained.folder, task);
	if (!best || tuning.readScoring(trained.folder, task, best.step)) return;
	const { labels } = await taskLabels(dataset, task);
	const sets = {
		train: labelSetOf(dataset, labels, "train"),
		valid: labelSetOf(dataset, labels, "valid"),
	};
	const scoring = await withRuntime({ threads, provider, precision }, "inference", (runtime) =>
		fitScoring(runtime, trained, dataset, settings, sets, start),
	);
	tuning.writeScoring(trained.folder, best.step, scoring);
}

/** Maximum events of a history that the model sees in fine-tuning. */
const longest = ({ model, config }: tuning.Trained, maxLength: number) =>
	Math.min(maxLength, model.context?.(config) ?? Number.POSITIVE_INFINITY);

/** Models without pre-training are trained until validation stops improving. */
export const fromScratch = { epochs: 20, patience: 3 } as const;

async function labelTraining(
	runtime: Runtime,
	trained: tuning.Trained,
	dataset: Dataset,
	{ task, training: settings, mostSteps }: FinetuneOptions,
): Promise<TaskTraining> {
	const { labels } = await taskLabels(dataset, task);
	const train = tuning.labelsOf(dataset, labels, "train");
	const valid = tuning.labelsOf(dataset, labels, "valid");
	const positive = checkLabels(dataset, task, { train, valid });
	const options = checkConfig(
		tuning.finetuneOptions,
		{
			...(trained.model.pretraining === "none" && {
				...fromScratch,
				learningRate: trained.run.options.learningRate,
			}),
			...settings,
		},
		"fine-tuning options",
	);
	const training = tuning.trainOptions.parse({
		...options,
		cut: "last",
		objective: "next",
		horizon: 0,
		maxLength: longest(trained, options.maxLength),
	});
	const { maxLength } = training;
	const start = await labelStart(runtime, trained, dataset, task, { train, valid }, maxLength);
	const batchesOf = (plan: BatchOptions) => tuning.labelBatches(dataset, start.labels.train, plan);
	const batchShapes = runtime.queues
		? tuning.shapesForDevice(training, batchesOf)
		: training.batchShapes;
	return {
		start,
		positive,
		identity: tuning.taskIdentity(trained, labels),
		options: within(mostSteps, { ...training, batchShapes }, batchesOf),
		model({ head }) {
			if (!head) throw new Error(`task ${task} has no head`);
			return tuning.classifier(trained, { ...head, weight: Float32Array.from(head.weight) });
		},
		batchesOf: (split, plan) => tuning.labelBatches(dataset, start.labels[split], plan),
	};
}

/** Options with as many epochs as fit into so many steps, at least one. */
function within(
	mostSteps: number | undefined,
	options: tuning.TrainOptions,
	batchesOf: (plan: BatchOptions) => SplitBatches,
): tuning.TrainOptions {
	if (mostSteps === undefined) return options;
	const steps = Math.ceil(batchesOf(tuning.batchPlan(options)).plan.count / options.accumulate);
	const fit = Math.floor(mostSteps / steps);
	return { ...options, epochs: Math.min(options.epochs, Math.max(1, fit)) };
}

/** For models that forecast after fine-tuning: the epochs of fine-tuning, the other options of pre-training. */
function forecastTraining(
	trained: tuning.Trained,
	dataset: Dataset,
	{ training: given = {}, mostSteps }: FinetuneOptions,
): TaskTraining {
	const { model, folder, run } = trained;
	if (model.forecasting.after === "pretraining")
		throw new InputError(
			`${model.name} forecasts as it was trained; run \`trajgpt evaluate ${folder} --task forecast\``,
		);
	const { epochs } = checkConfig(tuning.finetuneOptions, given, "fine-tuning options");
	const options = checkConfig(
		tuning.trainOptions,
		{ ...run.options, epochs, ...given },
		"fine-tuning options",
	);
	return {
		positive: 0,
		identity: tuning.taskIdentity(trained, []),
		options: within(mostSteps, options, (plan) => splitBatches(dataset, "train", plan)),
		model: () => tuning.forecaster(trained),
	};
}

/** The task to resume; undefined to begin one. */
function readBegun(
	{ folder: run }: tuning.Trained,
	{ task, training = {}, resume, replace }: FinetuneOptions,
	identity: tuning.Task["identity"],
): tuning.Task | undefined {
	if (replace) return undefined;
	const begun = tuning.readTask(run, task);
	if (begun && !resume)
		throw new InputError(
			`${tuning.taskFiles(run, task).folder} exists already; pass \`resume\` to continue it, or \`replace\` to start over`,
			{ field: "resume", value: resume },
		);
	if (!begun && resume === true)
		throw new InputError(`${task} was not begun in ${run}; leave out \`resume\` to begin it`, {
			field: "resume",
			value: resume,
		});
	if (!begun) return undefined;
	tuning.checkTask(run, begun, identity);
	if (resume === true) checkResumed("task", begun.options, training, "start over with `replace`");
	return begun;
}

function labelNotes(task: string, labels: LabelStart["labels"]): string[] {
	const positive = (split: "train" | "valid") => labels[split].filter(({ value }) => value).length;
	const counted = (split: "train" | "valid", name: string) =>
		`${labels[split].length} of ${name} patients (${positive(split)} positive)`;
	const rarer = Math.min(positive("valid"), labels.valid.length - positive("valid"));
	return [
		`labels of ${task}: ${counted("train", "training")}, ${counted("valid", "validation")}`,
		...(rarer < 10
			? [
					"few validation labels: which epoch is the best is left to chance, and the network will count little",
				]
			: []),
	];
}

/** Fits the initial head of a labelled task and writes `task.json`; removes earlier files. */
async function begin(
	trained: tuning.Trained,
	dataset: Dataset,
	options: FinetuneOptions,
	{ start, identity, options: training }: TaskTraining,
): Promise<tuning.Task> {
	const labels = start?.labels;
	const { task, provider = "cpu", precision, progress, communicator = oneProcess } = options;
	const { threads = ownCores(communicator) } = options;
	if (labels) {
		for (const note of labelNotes(task, labels)) progress?.note(note);
		progress?.note(`fitting the initial head to ${labels.train.length} labels`);
	}
	// Earlier files are removed only when it is certain that the new ones can be made.
	if (!labels) await checkProvider(provider, precision);
	const head =
		labels &&
		(await withRuntime({ threads, provider, precision }, "inference", (runtime) =>
			probe(runtime, trained, dataset, labels, training.maxLength),
		));
	const {
		task: settings,
		scoring,
		log,
		tensorboard,
		checkpoint,
		best,
	} = tuning.taskFiles(trained.folder, task);
	for (const part of [settings, scoring, log, tensorboard, checkpoint, best])
		rmSync(part, { recursive: true, force: true });
	const labelFile = dataset.labelFiles?.[task];
	return tuning.createTask(trained.folder, {
		...(labelFile !== undefined && { labelFile }),
		task,
		options: training,
		identity,
		threads,
		provider,
		...(precision && { precision }),
		...(head && { head }),
		versions: versions(),
	});
}

/** Too few labels to learn from; a comparison then continues with its other tasks. */
export class TooFewLabels extends InputError {}

function checkLabels(
	{ folder }: Dataset,
	task: string,
	{ train, valid }: Readonly<Record<"train" | "valid", readonly Label[]>>,
): number {
	const positive = train.filter(({ value }) => value).length;
	if (positive === 0 || positive === train.length)
		throw new TooFewLabels(
			`${folder}: ${positive} of the ${train.length} labels of ${task} in split train are positive; ` +
				"training needs positive and negative labels: prepare more patients",
		);
	if (valid.length === 0)
		throw new TooFewLabels(
			`${folder} has no labels of ${task} in split valid, which choose the best epoch: prepare more patients`,
		);
	return positive;
}
