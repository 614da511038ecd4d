import { resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { silentProgress } from "../base/progress.js";
import type { Dataset } from "../cohort/index.js";
import {
	type AcrossRuns,
	acrossRuns,
	type Evaluation,
	evaluateDefaults,
	evaluationFile,
	firstPatients,
	openTask,
	type EvaluateOptions as TaskOptions,
	tasksOf,
	writeEvaluation,
} from "../evaluate/index.js";
import { checkWritable } from "../files/index.js";
import { openRunDataset, type Trained } from "../train/index.js";
import type { Monitoring } from "./training.js";
import { versions } from "./versions.js";

/** What to measure, on which patients; what is left out is as in `evaluateDefaults`. */
export interface EvaluateOptions
	extends Partial<Omit<TaskOptions, "progress" | "baselines" | "keepPatients">>,
		Pick<Monitoring, "progress"> {
	/** `next`, `forecast` or a task with labels; all that the dataset has if left out. */
	readonly task?: string | undefined;
	/** Only the first so many patients of the split. */
	readonly patients?: number | undefined;
	/** All cores if left out. */
	readonly threads?: number | undefined;
	/** Called with each evaluation as soon as it is made. */
	readonly onEvaluation?: ((measured: MeasuredRun) => void) | undefined;
	/** Called with what holds over several runs, after the evaluations of each. */
	readonly onAcrossRuns?: ((task: string, over: AcrossRuns) => void) | undefined;
}

/** One run, measured on one task. */
export interface MeasuredRun {
	readonly run: string;
	/** Where the evaluation was written; none where it could not be. */
	readonly file?: string;
	readonly notWritten?: string;
	readonly evaluation: Evaluation;
}

export interface TaskResult {
	readonly runs: readonly MeasuredRun[];
	/** Where there are several runs. */
	readonly acrossRuns?: AcrossRuns;
}

/** The dataset of all runs; another is refused by the first run it does not belong to. */
export async function commonDataset(runs: readonly Trained[], given?: string): Promise<Dataset> {
	const [first] = runs as [Trained];
	const twice = runs.find(({ folder }, at) =>
		runs.slice(0, at).some((other) => resolve(other.folder) === resolve(folder)),
	);
	if (twice) throw new InputError(`${twice.folder} is named twice; name runs that differ`);
	for (const { folder, run } of runs)
		if (run.dataset.contentHash !== first.run.dataset.contentHash)
			throw new InputError(
				`${folder} was not trained on the dataset of ${first.folder}: ${run.dataset.contentHash} → ${first.run.dataset.contentHash}; evaluate them one by one`,
			);
	return openRunDataset(first.folder, first.run, given);
}

/** Reasons why results could not be written, though they were measured. */
export const notWritten = (results: Readonly<Record<string, TaskResult>>): string[] =>
	Object.values(results).flatMap(({ runs }) => runs.flatMap((run) => run.notWritten ?? []));

/**
 * Measures runs of one dataset, with 95 % intervals over patients and, where there are several runs, over
 * runs. Each evaluation is written to `eval/<task>.json` of its run. Results are given by task.
 *
 * @example
 * const run = readTrained("runs/first");
 * const { next } = await evaluate([run], await commonDataset([run]), { task: "next" });
 * console.log(next.runs[0].evaluation.rows[0].metrics.nats);
 */
export async function evaluate(
	runs: readonly Trained[],
	dataset: Dataset,
	options: EvaluateOptions = {},
): Promise<Record<string, TaskResult>> {
	const { nodeRuntime } = await import("../runtime/node.js");
	const { task, patients, threads, onEvaluation, onAcrossRuns, ...given } = options;
	const { progress = silentProgress } = options;
	const runtime = nodeRuntime({ purpose: "inference", ...(threads && { threads }) });
	const taskOptions: TaskOptions = { ...evaluateDefaults, ...given, progress };
	const people =
		patients === undefined ? dataset : firstPatients(dataset, taskOptions.split, patients);
	const maker = { versions: await versions(), clock: () => performance.now() };
	const measure = async (name: string): Promise<TaskResult> => {
		const evaluateRun = await openTask(name, people, taskOptions, maker);
		for (const { folder } of runs) await checkWritable(evaluationFile(folder, name));
		const measured: MeasuredRun[] = [];
		for (const trained of runs) {
			const evaluation = await evaluateRun(runtime, trained);
			const written = await writeEvaluation(trained.folder, evaluation).then(
				(file) => ({ file }),
				(error: unknown) => {
					// What was measured is shown, whatever becomes of the file.
					if (!(error instanceof InputError)) throw error;
					return { notWritten: error.message };
				},
			);
			progress.finish();
			measured.push({ run: trained.folder, ...written, evaluation });
			onEvaluation?.(measured.at(-1) as MeasuredRun);
		}
		if (runs.length === 1) return { runs: measured };
		const over = acrossRuns(measured.map(({ evaluation }) => evaluation));
		onAcrossRuns?.(name, over);
		return { runs: measured, acrossRuns: over };
	};
	if (task !== undefined) return { [task]: await measure(task) };
	const results: Record<string, TaskResult> = {};
	for (const name of tasksOf(dataset))
		try {
			results[name] = await measure(name);
		} catch (error) {
			// Too few patients for one task are no reason to go without the others.
			if (!(error instanceof InputError)) throw error;
			progress.finish();
			progress.note(`${name} is not measured: ${error.message}`);
		}
	if (Object.keys(results).length === 0)
		throw new InputError("no task could be measured; see above");
	return results;
}
