import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../../../base/errors.js";
import { versions } from "../../../base/files/versions.js";
import { formatDuration, silentProgress } from "../../../base/progress.js";
import { explainError } from "../../../base/system-errors.js";
import { type Dataset, openDataset } from "../../../data/cohort/index.js";
import type { Provider, Runtime } from "../../../engine/runtime/index.js";
import { withRuntime } from "../../../engine/runtime/open-runtime.js";
import type { Precision } from "../../../engine/tensor/index.js";
import {
	type Cell,
	type Entry,
	type EvaluateOptions,
	type Evaluation,
	evaluateDefaults,
	evaluatedPatients,
	evaluationInputsHash,
	isLabelledTask,
	onsetHorizons,
	openTask,
	tryReadEvaluation,
	writeEvaluation,
} from "../../../evaluate/index.js";
import { forecastMethods } from "../../../model/index.js";
import {
	isTrained,
	readRun,
	readTask,
	readTrained,
	runFiles,
	stepsDone,
	type Trained,
	taskFiles,
} from "../../../model/train/index.js";
import { finetune, TooFewLabels } from "../finetune.js";
import type { Monitoring } from "../pretrain/training.js";
import { pretrain } from "../pretrain.js";
import { methodsShown } from "./lines.js";
import {
	addTiming,
	baselinesId,
	comparisonFiles,
	type Plan,
	readCell,
	readEntry,
	readPlan,
	writeCell,
} from "./plan.js";

/** The resources that a cell computes with. */
export interface CellResources {
	readonly threads: number;
	readonly provider: Provider;
	readonly precision?: Precision | undefined;
}

export interface CellRequest extends CellResources, Monitoring {
	readonly folder: string;
	/** The id of the line, or `baselinesId`. */
	readonly id: string;
	readonly seed: number;
}

const clock = () => performance.now();

/** CPU time of this process, which other work on the machine affects less than the clock. */
const cpuSeconds = () => {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1e6;
};

/** A cell whose model is trained but not evaluated. */
interface TrainedCell {
	readonly plan: Plan;
	readonly dataset: Dataset;
	/** Undefined for the cell of the baselines. */
	readonly trained?: Trained;
	readonly training: Cell["training"];
	/** Why a task was not fine-tuned, by task. */
	readonly notTuned: Readonly<Record<string, string>>;
	readonly seconds: number;
}

/**
 * Trains the model of a cell, resuming an earlier attempt; baselines have nothing to train. When the signal is
 * aborted, it saves and throws the signal's reason.
 */
export async function trainCell(request: CellRequest): Promise<TrainedCell> {
	const { folder, id, seed } = request;
	const began = clock();
	const plan = readPlan(folder);
	const dataset = await openDataset(join(folder, plan.datasetFolder));
	if (dataset.manifest.contentHash !== plan.dataset)
		throw new InputError(`${dataset.folder} is not the dataset ${folder} was begun with`);
	const notTuned: Record<string, string> = {};
	const trainedCell = (more: Pick<TrainedCell, "training" | "trained">): TrainedCell => ({
		plan,
		dataset,
		notTuned,
		seconds: (clock() - began) / 1000,
		...more,
	});
	if (id === baselinesId) return trainedCell({ training: null });
	const training = await pretrainCell(plan, dataset, readEntry(folder, id), request);
	const trained = readTrained(comparisonFiles(folder).run(id, seed));
	for (const task of plan.tasks)
		await finetuneCell(plan, dataset, trained, task, request).catch((error: unknown) => {
			// Too few labels of one task do not stop the other tasks.
			if (!(error instanceof TooFewLabels)) throw error;
			notTuned[task] = error.message;
		});
	return trainedCell({ training, trained });
}

/** Trains the line's run. Its CPU time is kept in the run's folder, because it may have been interrupted. */
async function pretrainCell(
	plan: Plan,
	dataset: Dataset,
	{ id, model, settings, options }: Entry,
	{ folder, seed, threads, provider, precision, progress, signal }: CellRequest,
): Promise<NonNullable<Cell["training"]>> {
	const run = comparisonFiles(folder).run(id, seed);
	const stepsBefore = existsSync(runFiles(run).run) ? stepsDone(run) : 0;
	const began = clock();
	const secondsBefore = cpuSeconds();
	const summary = await pretrain(dataset, run, {
		model,
		settings,
		threads,
		provider,
		precision,
		progress,
		signal,
		hazards: plan.hazards,
		training: { ...plan.options, ...options, seed },
		resume: "if-begun",
	});
	const timing = await addTiming(run, {
		cpuSeconds: cpuSeconds() - secondsBefore,
		seconds: (clock() - began) / 1000,
		steps: summary.steps - stepsBefore,
		peakBytes: process.resourceUsage().maxRSS * 1024,
	});
	if (summary.interrupted) signal?.throwIfAborted();
	const stepsPerEpoch = summary.steps / Math.max(1, summary.epochs);
	return {
		parameters: summary.parameters,
		epochs: summary.epochs,
		bestEpoch: summary.best?.epoch ?? 0,
		cpuSecondsPerEpoch: timing.steps > 0 ? (timing.cpuSeconds / timing.steps) * stepsPerEpoch : 0,
		peakBytes: timing.peakBytes,
		seconds: timing.seconds,
		provider: readRun(run).provider,
	};
}

/** Fine-tunes the run to a task, where the task or the model needs it. */
async function finetuneCell(
	{ tuning, tuningSteps }: Plan,
	dataset: Dataset,
	trained: Trained,
	task: string,
	{ threads, provider, precision, progress, signal }: CellRequest,
): Promise<void> {
	const forecasts = task === "forecast";
	if (!forecasts && !isLabelledTask(task)) return;
	if (forecasts && trained.model.forecasting.after === "pretraining") return;
	const begun = readTask(trained.folder, task) !== undefined;
	if (begun && isTrained(taskFiles(trained.folder, task).folder)) return;
	const { interrupted } = await finetune(trained, dataset, {
		task,
		threads,
		provider,
		precision,
		progress,
		signal,
		resume: "if-begun",
		training: forecasts ? {} : { ...tuning, seed: trained.run.options.seed },
		mostSteps: tuningSteps ?? undefined,
	});
	if (interrupted) signal?.throwIfAborted();
}

/** Evaluates a cell on each task and writes it. */
export function evaluateCell(request: CellRequest, cell: TrainedCell): Promise<void> {
	return withRuntime(request, "inference", (runtime) => evaluateCellOn(runtime, request, cell));
}

async function evaluateCellOn(
	runtime: Runtime,
	{ folder, id, seed, progress = silentProgress }: CellRequest,
	{ plan, dataset, trained, training, notTuned, seconds }: TrainedCell,
): Promise<void> {
	const began = clock();
	const run = comparisonFiles(folder).run(id, seed);
	const maker = { versions: versions(), clock };
	const options: EvaluateOptions = {
		...evaluateDefaults,
		futures: plan.futures,
		baselines: trained === undefined,
		keepPatients: true,
		horizons: onsetHorizons,
		methods: trained ? methodsShown(trained.model.id) : forecastMethods,
	};
	const evaluations: Record<string, Evaluation> = {};
	const left: Record<string, string> = { ...notTuned };
	for (const task of plan.tasks) {
		const { people, sample } = await evaluatedPatients(task, dataset, {
			split: options.split,
			patients: isLabelledTask(task) ? "all" : (plan.patients ?? "all"),
		});
		// The table has a dash for a model that does not predict every event of a history.
		if (trained && task === "next" && !trained.model.predictsEachEvent) continue;
		// An earlier process may have evaluated the task.
		const before = await tryReadEvaluation(run, task);
		if (
			before &&
			before.made.basis === (await evaluationInputsHash(task, people, options, trained))
		) {
			evaluations[task] = before;
			continue;
		}
		try {
			const evaluate = await openTask(
				task,
				people,
				{ ...options, progress, ...(sample && { sample }) },
				maker,
			);
			const evaluation = await evaluate(runtime, trained);
			await writeEvaluation(run, evaluation);
			evaluations[task] = evaluation;
		} catch (error) {
			if (!(error instanceof InputError)) throw error;
			left[task] = error.message;
		} finally {
			progress.finish();
		}
	}
	await writeCell(folder, id, {
		kind: "trajgpt-cell",
		version: 2,
		seed,
		entry: id === baselinesId ? null : id,
		training,
		evaluations,
		left,
		seconds: seconds + (clock() - began) / 1000,
		cpuSeconds: cpuSeconds(),
	});
}

export interface CellName {
	readonly id: string;
	readonly seed: number;
}

export interface Failure extends CellName {
	readonly reason: string;
}

export interface CellProcesses extends CellResources, Monitoring {
	/** Number of cells computed at the same time. */
	readonly jobs: number;
}

/** The built command line, also when this code runs from source. */
function program(): string {
	const built = fileURLToPath(new URL("../../../bin/trajgpt.js", import.meta.url));
	return existsSync(built)
		? built
		: fileURLToPath(new URL("../../../../dist/bin/trajgpt.js", import.meta.url));
}

const cellLabel = ({ id, seed }: CellName) => `${id} ${seed}`;

/**
 * Computes cells, each in its own process, `jobs` at the same time. Finished cells are not repeated; a failed cell
 * does not stop the others. When the signal is aborted, every cell saves, and the signal's reason is thrown.
 */
export async function computeCells(
	folder: string,
	cells: readonly CellName[],
	{ jobs, threads, provider, precision, progress = silentProgress, signal }: CellProcesses,
): Promise<{ readonly cells: readonly Cell[]; readonly failed: readonly Failure[] }> {
	const done: Cell[] = [];
	const failed: Failure[] = [];
	const waiting = cells.filter(({ id, seed }) => {
		const before = readCell(folder, id, seed);
		if (before) done.push(before);
		return !before;
	});
	if (waiting.length === 0) return { cells: done, failed };
	const clock = () => performance.now();
	const began = clock();
	if (done.length > 0)
		progress.note(`${done.length} of ${cells.length} cells are already finished`);
	const running = new Map<ChildProcess, { name: CellName; line: string }>();
	const stop = () => {
		for (const child of running.keys()) child.kill("SIGTERM");
	};
	signal?.addEventListener("abort", stop);
	let finished = 0;
	const total = waiting.length;
	const show = () => {
		const each = finished > 0 ? (clock() - began) / 1000 / finished : undefined;
		progress.update({
			label: "cell",
			done: done.length + failed.length,
			fields: [
				["of", String(cells.length)],
				...(each === undefined
					? []
					: [["left", `about ${formatDuration(Math.round(each * (total - finished)))}`] as const]),
				...[...running.values()].map(({ name, line }) => [`| ${cellLabel(name)}:`, line] as const),
			],
		});
	};
	const compute = async (name: CellName): Promise<void> => {
		const files = comparisonFiles(folder);
		const log = createWriteStream(files.log(name.id, name.seed), { flags: "a" });
		// A log that cannot be written, as on a full disk, does not stop the cell.
		log.on("error", (error) =>
			progress.note(`${cellLabel(name)}: cannot write its log: ${explainError(error)}`),
		);
		const child = spawn(
			process.execPath,
			[
				program(),
				"compare-cell",
				folder,
				name.id,
				String(name.seed),
				"--threads",
				String(threads),
				"--provider",
				provider,
				...(precision ? ["--precision", precision] : []),
			],
			{ stdio: ["ignore", "ignore", "pipe", "ipc"] },
		);
		const state = { name, line: "starting" };
		running.set(child, state);
		let said = "";
		child.stderr?.on("data", (data: Buffer) => {
			log.write(data);
			said = `${said}${data}`.slice(-4000);
			state.line =
				said
					.trimEnd()
					.split(/[\r\n]/)
					.at(-1)
					?.trim() ?? "";
			show();
		});
		const { code, signal: endedBy } = await new Promise<{
			code: number | null;
			signal: string | null;
		}>((resolve) => {
			child.on("error", (error) => {
				said = `error: ${error.message}`;
				resolve({ code: 1, signal: null });
			});
			child.on("close", (code, signal) => resolve({ code, signal }));
		});
		running.delete(child);
		log.end();
		finished++;
		const cell = code === 0 ? readCell(folder, name.id, name.seed) : undefined;
		if (cell) {
			done.push(cell);
			progress.note(`${cellLabel(name)}: done in ${formatDuration(cell.seconds)}`);
		} else if (!signal?.aborted) {
			const reason = reasonIn(said) ?? (endedBy ? `ended by ${endedBy}` : `exit code ${code}`);
			failed.push({ ...name, reason });
			progress.note(`${cellLabel(name)}: failed: ${reason}; see ${files.log(name.id, name.seed)}`);
		}
		show();
	};
	try {
		const next = waiting.values();
		await Promise.all(
			Array.from({ length: Math.min(jobs, total) }, async () => {
				for (const name of next) {
					if (signal?.aborted) return;
					await compute(name);
				}
			}),
		);
	} finally {
		signal?.removeEventListener("abort", stop);
		progress.finish();
	}
	if (signal?.aborted) progress.note("saved; run the same command to continue");
	signal?.throwIfAborted();
	return { cells: done, failed };
}

const reasonIn = (said: string): string | undefined => /error: ([^\n]+)/.exec(said)?.[1]?.trim();
