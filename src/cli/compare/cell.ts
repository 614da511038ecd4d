import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { progress } from "../../base/progress.js";
import { type Dataset, openDataset } from "../../cohort/index.js";
import {
	type Cell,
	type Entry,
	type EvaluateOptions,
	type Evaluation,
	evaluateDefaults,
	evaluationBasis,
	openTask,
	readEvaluation,
	writeEvaluation,
} from "../../evaluate/index.js";
import { modelById } from "../../models/index.js";
import type { Provider } from "../../runtime/index.js";
import {
	createRun,
	holdingRun,
	isTrained,
	readRun,
	readTask,
	readTrained,
	runFiles,
	stepsDone,
	type Trained,
	taskFiles,
	trainOptions,
} from "../../train/index.js";
import { finetune, TooFewLabels } from "../finetuning.js";
import { Exit, type Io } from "../io.js";
import { settingsOf, train, versions } from "../training.js";
import { comparisonFiles, opponentsId, type Plan, readEntry, readPlan, writeCell } from "./plan.js";
import { addTiming } from "./timing.js";

/** With what a cell computes. */
export interface Beside {
	readonly threads: number;
	/** Of pre-training. */
	readonly provider: Provider;
}

export interface CellRequest extends Beside {
	readonly folder: string;
	/** The line, or `opponents`. */
	readonly id: string;
	readonly seed: number;
}

const clock = () => performance.now();

/** Of the processor, by this process: beside other work it says more than the clock. */
const cpuSeconds = () => {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1e6;
};

/** Trains and measures one cell, going on where an earlier try stopped. */
export async function workCell(io: Io, request: CellRequest): Promise<void> {
	const { folder, id, seed } = request;
	const began = clock();
	const plan = readPlan(folder);
	const dataset = await openDataset(join(folder, plan.datasetFolder));
	if (dataset.manifest.contentHash !== plan.dataset)
		throw new InputError(`${dataset.folder} is not the dataset ${folder} was begun with`);
	const work =
		id === opponentsId
			? { training: null, ...(await measured(io, plan, dataset, request, undefined)) }
			: await trainedCell(io, plan, dataset, request);
	await writeCell(folder, id, {
		...{ kind: "trajgpt-cell", version: 1, seed },
		entry: id === opponentsId ? null : id,
		...work,
		seconds: (clock() - began) / 1000,
		cpuSeconds: cpuSeconds(),
	});
}

async function trainedCell(io: Io, plan: Plan, dataset: Dataset, request: CellRequest) {
	const entry = readEntry(request.folder, request.id);
	const training = await pretrained(io, plan, dataset, entry, request);
	const trained = readTrained(comparisonFiles(request.folder).run(entry.id, request.seed));
	const untuned: Record<string, string> = {};
	for (const task of plan.tasks)
		await tuned(io, plan, dataset, trained, task, request.threads).catch((error: unknown) => {
			// Too few labels of one task are no reason to go without the others.
			if (!(error instanceof TooFewLabels)) throw error;
			untuned[task] = error.message;
		});
	const { evaluations, left } = await measured(io, plan, dataset, request, trained);
	return { training, evaluations, left: { ...untuned, ...left } };
}

const stopped = (exitCode: number) => {
	if (exitCode !== 0) throw new Exit(exitCode);
};

/** Trains the line's run; what that took is kept beside it, since it may have been interrupted. */
async function pretrained(
	io: Io,
	plan: Plan,
	dataset: Dataset,
	entry: Entry,
	{ folder, seed, threads, provider }: CellRequest,
): Promise<NonNullable<Cell["training"]>> {
	const run = comparisonFiles(folder).run(entry.id, seed);
	const files = runFiles(run);
	const begun = existsSync(files.run);
	const before = begun ? stepsDone(run) : 0;
	const model = modelById(entry.model);
	const config = checkConfig(
		model.config,
		{ ...entry.settings, ...settingsOf(dataset) },
		`model ${model.id}`,
	) as Record<string, unknown>;
	const options = checkConfig(
		trainOptions,
		{ ...plan.options, ...entry.options, seed },
		"training options",
	);
	const spent = cpuSeconds();
	const { summary, exitCode, where } = await holdingRun(run, async () => {
		const settings = begun
			? readRun(run)
			: createRun(run, dataset, {
					...{ model: model.id, config, options, threads, provider },
					versions: await versions(),
				});
		const training = { folder: run, run: settings, dataset, resume: begun, threads };
		return { ...(await train(io, training)), where: settings.provider };
	});
	const timing = await addTiming(run, {
		cpuSeconds: cpuSeconds() - spent,
		steps: summary.steps - before,
		peakBytes: process.resourceUsage().maxRSS * 1024,
	});
	stopped(exitCode);
	const stepsPerEpoch = summary.steps / Math.max(1, summary.epochs);
	return {
		parameters: summary.parameters,
		epochs: summary.epochs,
		bestEpoch: summary.best?.epoch ?? 0,
		cpuSecondsPerEpoch: timing.steps > 0 ? (timing.cpuSeconds / timing.steps) * stepsPerEpoch : 0,
		peakBytes: timing.peakBytes,
		provider: where,
	};
}

/** Fine-tunes the run to a task, where the task or the model needs it. */
async function tuned(
	io: Io,
	{ tuning }: Plan,
	dataset: Dataset,
	trained: Trained,
	task: string,
	threads: number,
): Promise<void> {
	const forecasts = task === "forecast";
	if (task === "next" || (forecasts && trained.model.forecasting.after === "pretraining")) return;
	const begun = readTask(trained.folder, task) !== undefined;
	if (begun && isTrained(taskFiles(trained.folder, task).folder)) return;
	const { exitCode } = await finetune(io, {
		...{ trained, dataset, task, threads, resume: begun },
		options: begun ? {} : forecasts ? {} : { ...tuning, seed: trained.run.options.seed },
	});
	stopped(exitCode);
}

/** Measures the run on each task, or without one the opponents. */
async function measured(
	io: Io,
	{ tasks, futures }: Plan,
	dataset: Dataset,
	{ folder, id, seed, threads }: CellRequest,
	trained: Trained | undefined,
): Promise<Pick<Cell, "evaluations" | "left">> {
	const { nodeRuntime } = await import("../../runtime/node.js");
	const runtime = nodeRuntime({ purpose: "inference", threads });
	const run = comparisonFiles(folder).run(id, seed);
	const maker = { versions: await versions(), clock };
	const asked: EvaluateOptions = {
		...evaluateDefaults,
		...{ futures, opponents: trained === undefined, keepPatients: true },
	};
	const evaluations: Record<string, Evaluation> = {};
	const left: Record<string, string> = {};
	for (const task of tasks) {
		// The table has a dash where a model does not foretell every event of a history.
		if (trained && task === "next" && !trained.model.predictsEachEvent) continue;
		const before = await readEvaluation(run, task);
		if (before && before.made.basis === evaluationBasis(task, dataset, asked, trained)) {
			evaluations[task] = before;
			continue;
		}
		const shown = progress(io.stderr, { clock });
		try {
			const evaluate = await openTask(task, dataset, { ...asked, progress: shown }, maker);
			const evaluation = await evaluate(runtime, trained);
			await writeEvaluation(run, evaluation);
			evaluations[task] = evaluation;
		} catch (error) {
			if (!(error instanceof InputError)) throw error;
			left[task] = error.message;
		} finally {
			shown.finish();
		}
	}
	return { evaluations, left };
}
