import { InputError } from "../base/errors.js";
import { thousands } from "../base/thousands.js";
import type { Dataset } from "../data/cohort/index.js";
import type { Runtime } from "../engine/runtime/index.js";
import type { Trained } from "../model/train/index.js";
import type { Evaluation, MeasureRun } from "./evaluation.js";
import { forecastTask } from "./forecast/index.js";
import { futuresTask } from "./futures/task.js";
import { evaluationInputsHash } from "./inputs-hash.js";
import { isExternal } from "./is-external.js";
import { labelledTask } from "./labelled/index.js";
import { labelledTasks } from "./labelled/task-labels.js";
import { nextTask } from "./next-task.js";
import { onsetTask } from "./onset/task.js";
import type { EvaluateOptions } from "./options.js";
import { sampleText } from "./sample-patients.js";
import { tooFewText } from "./too-few.js";

/** Evaluates one run, or the baselines if there is no run. */
export type EvaluateRun = (runtime: Runtime, trained?: Trained) => Promise<Evaluation>;

/** Metadata of every evaluation. */
export interface Maker {
	readonly versions: Readonly<Record<string, string>>;
	/** In milliseconds; only differences matter. */
	readonly clock: () => number;
}

/** The tasks without labels, which every dataset has. */
const unlabelled: Readonly<
	Record<string, (dataset: Dataset, options: EvaluateOptions) => Promise<MeasureRun>>
> = { onset: onsetTask, next: nextTask, forecast: forecastTask };

/** Those that are evaluated only if named: they take longer, or need a model that samples futures. */
const onRequest: typeof unlabelled = { futures: futuresTask };

/** The tasks of a dataset: onset, next, forecast, and those with labels. */
export const tasksOf = (dataset: Dataset): string[] => [
	...Object.keys(unlabelled),
	...labelledTasks(dataset),
];

/** The same, and those that are evaluated only if named. */
export const knownTasks = (dataset: Dataset): string[] => [
	...tasksOf(dataset),
	...Object.keys(onRequest),
];

/** Whether a task needs labels. `labelledTasks` lists those that a dataset has. */
export const isLabelledTask = (task: string): boolean =>
	!Object.hasOwn(unlabelled, task) && !Object.hasOwn(onRequest, task);

/** Prepares a task on a dataset; the baselines are evaluated here, once for all runs. */
export async function openTask(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
	{ versions, clock }: Maker,
): Promise<EvaluateRun> {
	if (dataset.patients(options.split).length === 0)
		throw new InputError(`${dataset.folder} has no patients in split ${options.split}`);
	const began = clock();
	const { home, whole, ...others } = options;
	// A sample of test patients takes nobody from those that baselines learn from.
	const own = whole && options.split !== "test" ? whole : dataset;
	const hasTraining = own.patients("train").length > 0;
	const isHelpful = home && (task === "onset" || labelledTasks(home).includes(task));
	const teacher = hasTraining ? own : isHelpful ? home : undefined;
	const used: EvaluateOptions = {
		...others,
		...(teacher ? teacher !== dataset && { home: teacher } : { baselines: false }),
	};
	const measure = await measurer(task, dataset, used);
	const opening = clock() - began;
	return async (runtime, trained) => {
		const started = clock();
		const measured = await measure(runtime, trained);
		const tooFew = measured.tooFew ?? tooFewText(measured);
		const external = trained !== undefined && isExternal(trained, dataset);
		return {
			kind: "trajgpt-evaluation",
			version: 3,
			...measured,
			...(tooFew && { tooFew }),
			...(options.sample && { sample: options.sample }),
			notes: [
				...(external ? [externalNote(dataset, teacher, home)] : []),
				...(options.sample ? [sampleText(options.sample)] : []),
				...measured.notes,
			],
			made: {
				versions: { ...versions },
				dataset: dataset.manifest.contentHash,
				...(external && { external: dataset.folder }),
				step: trained?.step ?? 0,
				basis: await evaluationInputsHash(task, dataset, used, trained),
				seconds: Math.round(opening + clock() - started) / 1000,
			},
		};
	};
}

function externalNote(dataset: Dataset, teacher?: Dataset, home?: Dataset): string {
	const { folder, manifest } = dataset;
	const whose = teacher === home ? "the run's own" : "its";
	return `external validation on ${folder} (content ${manifest.contentHash.slice(0, 12)}), which the run has not learned from; ${
		teacher
			? `baselines and few-shot rows learn from ${whose} ${thousands(teacher.patients("train").length)} training patients`
			: "it has no training patients, and none of the run's own can be used here, so there are no baselines and no few-shot rows"
	}`;
}

async function measurer(
	task: string,
	dataset: Dataset,
	options: EvaluateOptions,
): Promise<MeasureRun> {
	const named = { ...unlabelled, ...onRequest };
	const own = Object.hasOwn(named, task) && named[task];
	if (own) return own(dataset, options);
	if (labelledTasks(dataset).includes(task)) return labelledTask(task, dataset, options);
	throw new InputError(
		`${dataset.folder} has no task "${task}"; it has ${knownTasks(dataset).join(", ")}; to add one, pass its labels to prepare`,
	);
}
