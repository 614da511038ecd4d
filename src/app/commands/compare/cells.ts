import { spawn } from "node:child_process";
import { createWriteStream, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../../../base/errors.js";
import { versions } from "../../../base/files/versions.js";
import { formatDuration, silentProgress } from "../../../base/progress.js";
import { explainError } from "../../../base/system-errors.js";
import { type Dataset, openDataset } from "../../../data/cohort/index.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { type ComputeOptions, withRuntime } from "../../../engine/runtime/open-runtime.js";
import * as evaluating from "../../../evaluate/index.js";
import { forecastMethods } from "../../../model/index.js";
import * as runs from "../../../model/train/index.js";
import { finetune, TooFewLabels } from "../finetune.js";
import type { Monitoring } from "../pretrain/training.js";
import { pretrain } from "../pretrain.js";
import { methodsShown } from "./lines.js";
import * as plans from "./plan.js";

export interface CellName {
	/** The id of the line, or `baselinesId`. */
	readonly id: string;
	readonly seed: number;
}

interface CellRequest extends CellName, ComputeOptions, Monitoring {
	readonly folder: string;
}

const clock = () => performance.now();

/** CPU time of this process, which other work on the machine affects less than the clock. */
const cpuSeconds = () => {
	const { user, system } = process.cpuUsage();
	return (user + system) / 1e6;
};

/**
 * Trains the model of a cell, resuming an earlier attempt; baselines have nothing to train. When the signal is
 * aborted, it saves and throws the signal's reason.
 */
export async function trainCell(request: CellRequest) {
	const { folder, id, seed } = request;
	const began = clock();
	const plan = plans.readPlan(folder);
	const dataset = await openDataset(join(folder, plan.datasetFolder));
	if (dataset.manifest.contentHash !== plan.dataset)
		throw new InputError(`${dataset.folder} is not the dataset ${folder} was begun with`);
	const notTuned: Record<string, string> = {};
	let training: evaluating.Cell["training"] = null;
	let trained: runs.Trained | undefined;
	if (id !== plans.baselinesId) {
		training = await pretrainCell(plan, dataset, plans.readEntry(folder, id), request);
		trained = runs.readTrained(plans.comparisonFiles(folder).run(id, seed));
		for (const task of plan.tasks)
			await finetuneCell(plan, dataset, trained, task, request).catch((error: unknown) => {
				// Too few labels of one task do not stop the other tasks.
				if (!(error instanceof TooFewLabels)) throw error;
				notTuned[task] = error.message;
			});
	}
	return { plan, dataset, trained, training, notTuned, seconds: (clock() - began) / 1000 };
}

/** Trains the line's run. Its CPU time is kept in the run's folder, because it may have been interrupted. */
async function pretrainCell(
	plan: plans.Plan,
	dataset: Dataset,
	{ id, model, settings, options }: evaluating.ComparedModel,
	request: CellRequest,
): Promise<NonNullable<evaluating.Cell["training"]>> {
	const { folder, seed, signal } = request;
	const run = plans.comparisonFiles(folder).run(id, seed);
	const stepsBefore = existsSync(runs.runFiles(run).run) ? runs.stepsDone(run) : 0;
	const began = clock();
	const secondsBefore = cpuSeconds();
	const summary = await pretrain(dataset, run, {
		...request,
		model,
		settings,
		hazards: plan.hazards,
		priorsIn: plans.comparisonFiles(folder).priors,
		training: { ...plan.options, ...options, seed },
		resume: "if-begun",
	});
	const timing = await plans.addTiming(run, {
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
		provider: runs.readRun(run).provider,
	};
}

async function finetuneCell(
	{ tuning, tuningSteps }: plans.Plan,
	dataset: Dataset,
	trained: runs.Trained,
	task: string,
	request: CellRequest,
): Promise<void> {
	const forecasts = task === "forecast";
	if (!forecasts && !evaluating.isLabelledTask(task)) return;
	if (forecasts && trained.model.forecasting.after === "pretraining") return;
	const begun = runs.readTask(trained.folder, task) !== undefined;
	if (begun && runs.isTrained(runs.taskFiles(trained.folder, task).folder)) return;
	const { interrupted } = await finetune(trained, dataset, {
		...request,
		task,
		resume: "if-begun",
		training: forecasts ? {} : { ...tuning, seed: trained.run.options.seed },
		mostSteps: tuningSteps ?? undefined,
	});
	if (interrupted) request.signal?.throwIfAborted();
}

type TrainedCell = Awaited<ReturnType<typeof trainCell>>;

/** Evaluates a cell on each task and writes it. */
export const evaluateCell = (request: CellRequest, cell: TrainedCell): Promise<void> =>
	withRuntime(request, "inference", (runtime) => evaluateOn(runtime, request, cell));

async function evaluateOn(
	runtime: Runtime,
	{ folder, id, seed, progress = silentProgress }: CellRequest,
	{ plan, dataset, trained, training, notTuned, seconds }: TrainedCell,
): Promise<void> {
	const began = clock();
	const run = plans.comparisonFiles(folder).run(id, seed);
	const maker = { versions: versions(), clock };
	const options: evaluating.EvaluateOptions = {
		...evaluating.evaluateDefaults,
		futures: plan.futures,
		baselines: trained === undefined,
		keepDraws: true,
		horizons: evaluating.onsetHorizons,
		methods: trained ? methodsShown(trained.model.id) : forecastMethods,
	};
	const evaluations: Record<string, evaluating.Evaluation> = {};
	const left: Record<string, string> = { ...notTuned };
	for (const task of plan.tasks) {
		const { people, sample } = await evaluating.evaluatedPatients(task, dataset, {
			split: options.split,
			patients: evaluating.isLabelledTask(task) ? "all" : (plan.patients ?? "all"),
		});
		// The table has a dash for a model that does not predict every event of a history.
		if (trained && task === "next" && !trained.model.predictsEachEvent) continue;
		// An earlier process may have evaluated the task.
		const before = await evaluating.tryReadEvaluation(run, task);
		const inputs =
			before && (await evaluating.evaluationInputsHash(task, people, options, trained));
		if (before && before.made.basis === inputs && before.rows.every(({ byDraw }) => byDraw)) {
			evaluations[task] = before;
			continue;
		}
		try {
			const settings = { ...options, progress, ...(sample && { sample }) };
			const evaluate = await evaluating.openTask(task, people, settings, maker);
			const evaluation = await evaluate(runtime, trained);
			await evaluating.writeEvaluation(run, evaluation);
			evaluations[task] = evaluation;
		} catch (error) {
			if (!(error instanceof InputError)) throw error;
			left[task] = error.message;
		} finally {
			progress.finish();
		}
	}
	await plans.writeCell(folder, id, {
		kind: "trajgpt-cell",
		version: 2,
		seed,
		entry: id === plans.baselinesId ? null : id,
		training,
		evaluations,
		left,
		seconds: seconds + (clock() - began) / 1000,
		cpuSeconds: cpuSeconds(),
	});
}

/** The built command line, also when this code runs from source. */
const program = (): string =>
	["../../../bin/trajgpt.js", "../../../../dist/bin/trajgpt.js"]
		.map((place) => fileURLToPath(new URL(place, import.meta.url)))
		.find((place, i) => i === 1 || existsSync(place)) as string;

/** Computes a cell in a process of its own; gives how the process ended. `said` gets what it prints. */
async function inOwnProcess(
	{ folder, id, seed, threads = 1, provider = "cpu", precision, signal }: CellRequest,
	said: (text: Buffer | string) => void,
): Promise<string> {
	const cell = ["compare-cell", folder, id, String(seed)];
	const resources = ["--threads", String(threads), "--provider", provider];
	const child = spawn(
		process.execPath,
		[program(), ...cell, ...resources, ...(precision ? ["--precision", precision] : [])],
		{ stdio: ["ignore", "ignore", "pipe", "ipc"] },
	);
	const stop = () => child.kill("SIGTERM");
	signal?.addEventListener("abort", stop);
	child.stderr?.on("data", said);
	const ending = await new Promise<string>((resolve) => {
		child.on("error", ({ message }) => resolve(message));
		child.on("close", (code, endedBy) =>
			resolve(endedBy ? `ended by ${endedBy}` : `exit code ${code}`),
		);
	});
	signal?.removeEventListener("abort", stop);
	return ending;
}

/** An object, so that tests can compute most cells in their own process. */
export const cellProcesses = { run: inOwnProcess };

/**
 * Computes cells, each in its own process, `jobs` at the same time. Finished cells are not repeated; a failed cell
 * does not stop the others. When the signal is aborted, every cell saves, and the signal's reason is thrown.
 */
export async function computeCells(
	folder: string,
	cells: readonly CellName[],
	{
		jobs,
		progress = silentProgress,
		threads,
		provider,
		precision,
		signal,
	}: ComputeOptions & Monitoring & { readonly jobs: number },
) {
	const files = plans.comparisonFiles(folder);
	const done: evaluating.Cell[] = [];
	const failed: (CellName & { readonly reason: string })[] = [];
	const waiting = cells.filter(({ id, seed }) => {
		const before = plans.readCell(folder, id, seed);
		if (before) done.push(before);
		return !before;
	});
	if (waiting.length === 0) return { cells: done, failed };
	const began = clock();
	if (done.length > 0)
		progress.note(`${done.length} of ${cells.length} cells are already finished`);
	/** What each cell that runs now has printed last. */
	const running = new Map<CellName, string>();
	let finished = 0;
	const show = () => {
		const left = ((clock() - began) / 1000 / finished) * (waiting.length - finished);
		progress.update({
			label: "cell",
			done: done.length + failed.length,
			fields: [
				["of", String(cells.length)],
				...(finished === 0 ? [] : [["left", `about ${formatDuration(Math.round(left))}`] as const]),
				...[...running].map(([{ id, seed }, line]) => [`| ${id} ${seed}:`, line] as const),
			],
		});
	};
	/** Runs a cell; if it fails, the reason is the error that it printed, or else how it ended. */
	const runCell = async (name: CellName) => {
		const { id, seed } = name;
		const log = createWriteStream(files.log(id, seed), { flags: "a" });
		// A log that cannot be written, as on a full disk, does not stop the cell.
		log.on("error", (error) =>
			progress.note(`${id} ${seed}: cannot write its log: ${explainError(error)}`),
		);
		let stderr = "";
		running.set(name, "starting");
		const request = { folder, id, seed, threads, provider, precision, signal };
		const ending = await cellProcesses.run(request, (text) => {
			log.write(text);
			stderr = `${stderr}${text}`.slice(-4000);
			const lines = stderr.trimEnd().split(/[\r\n]/);
			running.set(name, (lines.at(-1) ?? "").trim());
			show();
		});
		running.delete(name);
		log.end();
		const reason = /error: ([^\n]+)/.exec(stderr)?.[1]?.trim() ?? ending;
		return { hasSucceeded: ending === "exit code 0", reason };
	};
	const compute = async (name: CellName): Promise<void> => {
		const { id, seed } = name;
		const { hasSucceeded, reason } = await runCell(name);
		finished++;
		const cell = hasSucceeded ? plans.readCell(folder, id, seed) : undefined;
		if (cell) {
			done.push(cell);
			progress.note(`${id} ${seed}: done in ${formatDuration(cell.seconds)}`);
		} else if (!signal?.aborted) {
			failed.push({ ...name, reason });
			progress.note(`${id} ${seed}: failed: ${reason}; see ${files.log(id, seed)}`);
		}
		show();
	};
	try {
		const next = waiting.values();
		const work = async () => {
			for (const name of next) if (!signal?.aborted) await compute(name);
		};
		await Promise.all(Array.from({ length: Math.min(jobs, waiting.length) }, work));
	} finally {
		progress.finish();
	}
	if (signal?.aborted) progress.note("saved; run the same command to continue");
	signal?.throwIfAborted();
	return { cells: done, failed };
}
