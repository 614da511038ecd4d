import { type Communicator, oneProcess } from "../../../base/communicator.js";
import { InputError } from "../../../base/errors.js";
import { checkWritable } from "../../../base/files/index.js";
import { versions } from "../../../base/files/versions.js";
import { type Progress, silentProgress } from "../../../base/progress.js";
import { errorCode } from "../../../base/system-errors.js";
import { thousands } from "../../../base/thousands.js";
import { isoDate } from "../../../base/time.js";
import { type Dataset, openDataset } from "../../../data/cohort/index.js";
import { readingRules } from "../../../data/cohort/reading/rules.js";
import type { Vocabulary } from "../../../data/cohort/vocabulary.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import {
	type ComputeOptions,
	ownCores,
	withRuntime,
} from "../../../engine/runtime/open-runtime.js";
import * as evaluating from "../../../evaluate/index.js";
import { openRunDataset, type Trained } from "../../../model/train/index.js";
import { checkDistinctRuns } from "../../../predict/trained/open.js";
import type { Monitoring } from "../pretrain/training.js";
import * as writing from "./predictions.js";

/** What to evaluate, on which patients. Defaults: `evaluateDefaults`. */
export interface EvaluateOptions
	extends Partial<
			Omit<
				evaluating.EvaluateOptions,
				| ("progress" | "threads" | "baselines" | "keepDraws" | "before")
				| ("onPredictions" | "sample" | "fullDataset" | "trainingDataset")
			>
		>,
		Pick<Monitoring, "progress">,
		ComputeOptions,
		writing.PredictionTargets {
	/**
	 * `onset`, `next`, `forecast`, `futures` or a labelled task. Default: all tasks of the dataset but `futures`, and
	 * `onset` alone for runs that were trained up to a date.
	 */
	readonly task?: string | undefined;
	/**
	 * How many patients of the split: the first n, in the order of their ids, or `all`. By default all, or 20,000
	 * drawn at random if there are more. A sample does not replace a stored result of more patients, unless that is of
	 * an earlier state of the run.
	 */
	readonly patients?: number | "all" | undefined;
	readonly onEvaluation?: ((measured: MeasuredRun) => void) | undefined;
	readonly onAcrossRuns?: ((task: string, over: evaluating.AcrossRuns) => void) | undefined;
}

export interface MeasuredRun {
	readonly run: string;
	/** The file of the evaluation; undefined if it was not written. */
	readonly file?: string;
	/** Why it could not be written. */
	readonly notWritten?: string;
	/** Why it was not stored: the file holds a result of more patients. */
	readonly notStored?: string;
	readonly evaluation: evaluating.Evaluation;
	readonly predictions?: writing.WrittenPredictions;
}

export interface TaskResult {
	readonly runs: readonly MeasuredRun[];
	readonly acrossRuns?: evaluating.AcrossRuns;
}

/**
 * The dataset of all runs, or another one for external validation: it must have the vocabulary and the rules of the
 * runs, as `prepare` with `like` makes it. Rejects runs of different datasets.
 */
export async function commonDataset(runs: readonly Trained[], given?: string): Promise<Dataset> {
	const [first] = runs as [Trained];
	checkDistinctRuns(runs);
	for (const { folder, run } of runs)
		if (run.dataset.contentHash !== first.run.dataset.contentHash)
			throw new InputError(
				`${folder} was not trained on the dataset of ${first.folder}: ${run.dataset.contentHash} → ${first.run.dataset.contentHash}; evaluate them one by one`,
			);
	if (given === undefined) return openRunDataset(first.folder, first.run);
	const dataset = await openDataset(given);
	if (evaluating.isExternal(first, dataset)) checkSameMeaning(first, dataset);
	return dataset;
}

/** The dataset that runs have learned from, if they are evaluated on another one and it is still there. */
async function trainingDatasetOf(
	[first]: readonly Trained[],
	dataset: Dataset,
	progress: Progress,
): Promise<Dataset | undefined> {
	if (!first || !evaluating.isExternal(first, dataset)) return undefined;
	try {
		return await openRunDataset(first.folder, first.run);
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		progress.note(`baselines cannot learn where the run has learned: ${error.message}`);
		return undefined;
	}
}

/** The last day that all runs have seen; undefined if they have seen everything. */
function commonCut(runs: readonly Trained[]): number | undefined {
	const [first] = runs as [Trained];
	const other = runs.find(({ run }) => run.before !== first.run.before);
	if (other)
		throw new InputError(
			`${first.folder} and ${other.folder} have learned from records up to different dates; evaluate them one by one`,
		);
	return first.run.before;
}

/** Of the tasks, only onset keeps to a cut: the others ask about records before it too, and learn from those after. */
function checkTask(task: string, before: number | undefined, [first]: readonly Trained[]): void {
	if (before === undefined || task === "onset") return;
	throw new InputError(
		`${first?.folder} has learned from records up to ${isoDate(before)}, which task ${task} does not take into account; evaluate it on task onset, or name a run that has learned from all records`,
		{ field: "task", value: task },
	);
}

export function checkWritten(results: Readonly<Record<string, TaskResult>>, more = ""): void {
	for (const { runs } of Object.values(results))
		for (const { notWritten } of runs)
			if (notWritten !== undefined) throw new InputError(`${notWritten}${more}`);
}

/**
 * Evaluates runs of one dataset, with 95 % intervals over patients and, for several runs, over runs. Writes each
 * evaluation to `eval/<task>.json` of its run; one of some `patients` does not replace one of more. Returns results by task.
 * Of processes that share the work, rank 0 alone writes.
 *
 * @example
 * const run = readTrained("runs/first");
 * const { next } = await evaluate([run], await commonDataset([run]), { task: "next" });
 * console.log(next.runs[0].evaluation.rows[0].metrics.nats);
 */
export function evaluate(
	runs: readonly Trained[],
	dataset: Dataset,
	options: EvaluateOptions = {},
): Promise<Record<string, TaskResult>> {
	const { threads, provider, precision, communicator = oneProcess, ...others } = options;
	const evaluation = { ...others, threads: threads ?? ownCores(communicator) };
	return withRuntime({ threads, provider, precision, communicator }, "inference", (runtime) =>
		evaluateOn(runtime, runs, dataset, evaluation, communicator),
	);
}

async function evaluateOn(
	runtime: Runtime,
	runs: readonly Trained[],
	dataset: Dataset,
	options: Omit<EvaluateOptions, keyof ComputeOptions> &
		Pick<evaluating.EvaluateOptions, "threads">,
	communicator: Communicator,
): Promise<Record<string, TaskResult>> {
	const { task, patients, predictions, plp, onEvaluation, onAcrossRuns, ...overrides } = options;
	const { progress = silentProgress } = options;
	evaluating.checkPatientCount(patients);
	evaluating.checkDraws(options.draws);
	const before = commonCut(runs);
	if (task !== undefined) checkTask(task, before, runs);
	if (options.compare?.length) writing.checkHasOutcomes(task);
	const targets = { predictions, plp };
	const { axis } = dataset.manifest.source;
	const writes = await writing.checkPredictionTargets(targets, runs, task, axis);
	let predicted: evaluating.RowPredictions | undefined;
	const trainingDataset = await trainingDatasetOf(runs, dataset, progress);
	const taskOptions: evaluating.EvaluateOptions = {
		...evaluating.evaluateDefaults,
		...overrides,
		progress,
		...(trainingDataset && { trainingDataset }),
		...(before !== undefined && { before }),
		...(writes && {
			onPredictions(answered: evaluating.RowPredictions) {
				predicted = answered;
			},
		}),
	};
	const { split } = taskOptions;
	const maker = { versions: versions(), clock: () => performance.now() };
	const measure = async (name: string): Promise<TaskResult> => {
		const { people, sample } = await evaluating.evaluatedPatients(name, dataset, {
			split,
			patients,
		});
		const drawn = {
			...taskOptions,
			...(sample && { sample, fullDataset: dataset }),
			...(runs.length > 1 && { keepDraws: true }),
		};
		const evaluateRun = await evaluating.openTask(name, people, drawn, maker);
		for (const trained of runs) {
			const other = evaluating.isExternal(trained, dataset)
				? dataset.manifest.contentHash
				: undefined;
			await checkWritable(evaluating.evaluationFile(trained.folder, name, other));
		}
		const measured: MeasuredRun[] = [];
		const withDraws: evaluating.Evaluation[] = [];
		for (const trained of runs) {
			const run = trained.folder;
			const drawnEvaluation = await evaluateRun(runtime, trained);
			withDraws.push(drawnEvaluation);
			const evaluation = evaluating.withoutDraws(drawnEvaluation);
			if (communicator.rank > 0) {
				measured.push({ run, evaluation });
				continue;
			}
			const stored = await store(run, evaluation);
			progress.finish();
			const files = { ...taskOptions, ...targets };
			const result = {
				run,
				...stored,
				evaluation,
				...(writes && {
					predictions: await writing.writeRowPredictions(name, trained, people, predicted, files),
				}),
			};
			measured.push(result);
			onEvaluation?.(result);
		}
		if (runs.length === 1) return { runs: measured };
		const over = evaluating.acrossRuns(withDraws);
		onAcrossRuns?.(name, over);
		return { runs: measured, acrossRuns: over };
	};
	if (task !== undefined) return { [task]: await measure(task) };
	const results: Record<string, TaskResult> = {};
	for (const name of before === undefined ? evaluating.tasksOf(dataset) : ["onset"])
		try {
			results[name] = await measure(name);
		} catch (error) {
			// Too few patients for one task do not stop the other tasks. A refusal of the system may be of one rank alone.
			if (!(error instanceof InputError)) throw error;
			if (communicator.size > 1 && errorCode(error.cause) !== undefined) throw error;
			progress.finish();
			progress.note(`${name} is not evaluated: ${error.message}`);
		}
	if (Object.keys(results).length === 0)
		throw new InputError("no task could be evaluated; see above");
	return results;
}

/** Writes an evaluation, unless the file holds one of more patients; results that cannot be written are still returned. */
async function store(run: string, evaluation: evaluating.Evaluation) {
	const notStored = await storedOfMore(run, evaluation);
	if (notStored !== undefined) return { notStored };
	try {
		return { file: await evaluating.writeEvaluation(run, evaluation) };
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		return { notWritten: error.message };
	}
}

/**
 * Why the result of a sample is not stored: the file holds one of more patients, of the same weights and dataset.
 * Undefined if it is to be stored.
 */
export async function storedOfMore(
	run: string,
	{ task, patients, sample, made: { dataset, external, step } }: evaluating.Evaluation,
): Promise<string | undefined> {
	if (!sample) return undefined;
	const other = external && dataset;
	// A file that cannot be read is replaced, as by every evaluation.
	const stored = await evaluating.tryReadEvaluation(run, task, other);
	if (!stored || stored.made.step !== step || stored.made.dataset !== dataset) return undefined;
	// Without `sample`, the file holds all patients, or is older than `sample`. All patients include those of this
	// sample, so that as many of them or more can be evaluated.
	const [theirs, patientCount] = stored.sample
		? [stored.sample.patients, sample.patients]
		: [stored.patients, patients];
	if (theirs <= patientCount) return undefined;
	return `${evaluating.evaluationFile(run, task, other)} holds the results of ${thousands(theirs)} patients, and these are of ${thousands(patientCount)}; to replace them, evaluate all patients (\`patients: "all"\`)`;
}

const keysOf = ({ tokens }: Vocabulary) => tokens.map(({ code, system }) => `${system} ${code}`);

/** Tokens are numbers: a dataset with another vocabulary would be misread. */
export const hasSameTokens = (
	{ vocabulary }: Pick<Trained, "vocabulary">,
	dataset: Dataset,
): boolean => keysOf(vocabulary).join("\n") === keysOf(dataset.vocabulary).join("\n");

/** Rejects a dataset whose events do not mean what those of the run mean: other codes, or other rules. */
function checkSameMeaning(trained: Trained, dataset: Dataset): void {
	const { folder, manifest, vocabulary } = trained;
	const remedy = `prepare its records again with \`trajgpt prepare … --like ${folder}\``;
	if (!hasSameTokens(trained, dataset)) {
		const keys = new Set(keysOf(vocabulary));
		const shared = keysOf(dataset.vocabulary).filter((key) => keys.has(key)).length;
		throw new InputError(
			`${dataset.folder} has another vocabulary than ${folder}: ${dataset.vocabulary.size} tokens, ${shared} of them among the ${vocabulary.size} of the run${shared === vocabulary.size ? ", in another order" : ""}; ${remedy}`,
			{ field: "dataset", value: dataset.folder },
		);
	}
	const [rules, others] = [readingRules(manifest), readingRules(dataset.manifest)];
	const differ = (Object.keys(rules) as (keyof typeof rules)[]).find(
		(name) => name !== "axis" && rules[name] !== others[name],
	);
	if (differ)
		throw new InputError(
			`${dataset.folder} was prepared by other rules than ${folder}: ${differ} is ${others[differ]}, expected ${rules[differ]}; ${remedy}`,
			{ field: "dataset", value: dataset.folder },
		);
}
