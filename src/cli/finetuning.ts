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
	labelsOf,
	type PretrainRequest,
	type PretrainSummary,
	questionBatches,
	readTask,
	sealedTaskFiles,
	type Task,
	type Trained,
	type TrainOptions,
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

/** What a task teaches: the labels, and how a run becomes a model that learns from them. */
interface Lesson {
	/** None where it learns to forecast. */
	readonly labels?: Readonly<Record<"train" | "valid", readonly Label[]>>;
	readonly positive: number;
	readonly identity: Task["identity"];
	readonly options: TrainOptions;
	model(settings: Task): Model;
	readonly batchesOf?: NonNullable<PretrainRequest["batchesOf"]>;
}

/** Fine-tunes a run to a task, end to end, in `tasks/<task>/` of its folder. */
export async function finetune(io: Io, finetuning: Finetuning): Promise<FinetuningOutcome> {
	const { dataset, task, resume, threads } = finetuning;
	const trained = fineTuningStart(finetuning.trained);
	const { folder } = taskFiles(trained.folder, task);
	const lesson =
		task === "forecast"
			? forecastLesson(finetuning, trained)
			: await labelLesson(finetuning, trained);
	const begun = readBegun(finetuning, lesson.identity);
	return holdingRun(folder, async () => {
		const settings = begun ?? (await begin(io, finetuning, trained, lesson));
		const { summary, exitCode } = await train(io, {
			folder,
			run: {
				...settings,
				model: trained.run.model,
				config: trained.run.config,
				dataset: settings.identity,
			},
			model: lesson.model(settings),
			dataset,
			...(lesson.batchesOf && { batchesOf: lesson.batchesOf }),
			resume: resume && begun !== undefined,
			sealed: sealedTaskFiles(trained.folder, task),
			...(threads && { threads }),
		});
		const { labels, positive } = lesson;
		return { folder, summary, exitCode, labels: labels?.train.length ?? 0, positive };
	});
}

/** Most events of a history that the model sees in fine-tuning. */
const longest = ({ model, config }: Trained, maxLength: number) =>
	Math.min(maxLength, model.context?.(config) ?? Number.POSITIVE_INFINITY);

/** What is not pre-trained learns a task as it learned to forecast, until validation stops improving. */
export const fromScratch = { epochs: 20, patience: 3 } as const;

async function labelLesson(
	{ dataset, task, options: given }: Finetuning,
	trained: Trained,
): Promise<Lesson> {
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
		batchesOf: (split, plan) => questionBatches(dataset, own[split], plan),
	};
}

/** Of models that forecast after fine-tuning: as long as the labels teach, at the pace of the pre-training. */
function forecastLesson({ options: given }: Finetuning, trained: Trained): Lesson {
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

/** Places the head, where there is one, and writes `task.json`; what lay in the folder is removed. */
async function begin(
	io: Io,
	{ dataset, task, threads = availableParallelism() }: Finetuning,
	trained: Trained,
	{ labels, identity, options }: Lesson,
): Promise<Task> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const files = taskFiles(trained.folder, task);
	for (const place of [files.task, files.log, files.tensorboard, files.checkpoint, files.best])
		rmSync(place, { recursive: true, force: true });
	if (labels)
		io.stderr.write(`placing the head by ${labels.train.length} labels, the model as it is\n`);
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
