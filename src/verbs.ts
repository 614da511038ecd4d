import {
	commonDataset,
	type EvaluateOptions,
	type ExportOptions,
	evaluate as evaluateRuns,
	exportModel as exportRun,
	type FinetuneOptions,
	type FinetuneSummary,
	finetune as finetuneRun,
	type PretrainOptions,
	pretrain as pretrainOn,
	type ServeOptions,
	type Serving,
	serve as serveRun,
	type TaskResult,
} from "./app/commands/index.js";
import { noLog } from "./app/server/index.js";
import { type Dataset, openDataset } from "./data/cohort/index.js";
import {
	openRunDataset,
	type PretrainSummary,
	readModel,
	readTrained,
} from "./model/train/index.js";

/** A folder that `prepare` wrote, or a dataset that is open already. */
const opened = (dataset: string | Dataset): Dataset | Promise<Dataset> =>
	typeof dataset === "string" ? openDataset(dataset) : dataset;

/**
 * Trains a model on a dataset, from scratch, in the folder of a new run; or resumes one.
 *
 * Aborting `signal` saves and returns a summary that is `interrupted`. A resumed run ends with the same
 * weights, to the bit, as one that was never interrupted.
 *
 * @example
 * await pretrain("data", "runs/first", { preset: "tiny", training: { epochs: 5 } });
 */
export async function pretrain(
	dataset: string | Dataset,
	folder: string,
	options: PretrainOptions = {},
): Promise<PretrainSummary> {
	return pretrainOn(await opened(dataset), folder, options);
}

/**
 * Fine-tunes a run to a task, end to end, in `tasks/<task>/` of its folder. The run itself stays as it is.
 *
 * @example
 * await finetune("runs/first", { task: "insulin" });
 */
export async function finetune(
	run: string,
	options: FinetuneOptions & { readonly dataset?: string },
): Promise<FinetuneSummary> {
	const trained = readTrained(run);
	const dataset = await openRunDataset(run, trained.run, options.dataset);
	return finetuneRun(trained, dataset, options);
}

/**
 * Measures runs of one dataset, with 95 % intervals over patients. Each evaluation is written to
 * `eval/<task>.json` of its run. Results are given by task.
 *
 * @example
 * const { next } = await evaluate(["runs/first"], { task: "next" });
 * console.log(next.runs[0].evaluation.rows[0].metrics.nats);
 *
 * @example
 * const { onset } = await evaluate(["runs/first"], { task: "onset", compare: ["xgb.csv"] });
 * console.log(onset.runs[0].evaluation.comparisons?.[0].differences);
 */
export async function evaluate(
	runs: readonly string[],
	options: EvaluateOptions & { readonly dataset?: string } = {},
): Promise<Record<string, TaskResult>> {
	const trained = runs.map((run) => readTrained(run));
	return evaluateRuns(trained, await commonDataset(trained, options.dataset), options);
}

/**
 * Writes what a run, or a task of it (`tasks/<task>`), has learned as a folder that `loadModel`, a page or any ONNX runtime can use.
 *
 * @example
 * await exportModel("runs/first", "model");
 */
export const exportModel = (run: string, folder: string, options: ExportOptions = {}) =>
	exportRun(readModel(run), folder, options);

/**
 * Serves a run, or a task of it (`tasks/<task>`), over HTTP: the JSON API and, unless turned off, the explorer.
 *
 * @example
 * const service = await serve("runs/first");
 * console.log(service.url);
 * await service.close();
 */
export const serve = (run: string, options: Partial<ServeOptions> = {}): Promise<Serving> =>
	serveRun(readModel(run), { host: "127.0.0.1", explorer: true, log: noLog, ...options });
