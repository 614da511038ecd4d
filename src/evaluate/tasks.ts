import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import { thousands } from "../base/thousands.js";
import { type Dataset, type Split, withPatients } from "../data/cohort/index.js";
import { labelsOfTask, taskOfLabels } from "../data/cohort/label-rules.js";
import type { Runtime } from "../engine/runtime/index.js";
import type { ParameterValues } from "../model/index.js";
import { labelsOf, type Trained, taskWeights } from "../model/train/index.js";
import * as results from "./evaluation.js";
import { forecastTask } from "./forecast/task.js";
import { futuresTask } from "./futures/task.js";

import { labelledTask, labelOracles } from "./labelled/task.js";
import { isOnsetTask, labelledTasks } from "./labelled/task-labels.js";
import { nextTask } from "./next/task.js";
import { onsetTask } from "./onset/task.js";
import { refuseSameLabels, rowLabelOf } from "./prediction-file.js";

type OpenTask = (dataset: Dataset, options: results.EvaluateOptions) => Promise<results.MeasureRun>;

/** The tasks without labels, which every dataset has. */
const usual: Readonly<Record<string, OpenTask>> = {
	onset: onsetTask,
	next: nextTask,
	forecast: forecastTask,
};
/** Futures are evaluated only if named: they take longer, or need a model that samples them. */
const unlabelled: typeof usual = { ...usual, futures: futuresTask };

/** The tasks of a dataset: onset, next, forecast, and those with labels. */
export const tasksOf = (dataset: Dataset): string[] => [
	...Object.keys(usual),
	...labelledTasks(dataset),
];

/** The same, and those that are evaluated only if named. */
export const knownTasks = (dataset: Dataset): string[] => [...tasksOf(dataset), "futures"];

/** Whether a task needs labels. `labelledTasks` lists those that a dataset has. */
export const isLabelledTask = (task: string): boolean => !Object.hasOwn(unlabelled, task);

/** Patients of a larger split are drawn at random, unless a number is given. */
export const mostEvaluated = 20_000;

export function checkPatientCount(patients: number | "all" | undefined): void {
	if (patients === undefined || patients === "all") return;
	if (Number.isInteger(patients) && patients >= 1) return;
	throw new InputError(
		`\`patients\` ${JSON.stringify(patients)}: expected a whole number of at least 1, or "all"`,
		{ field: "patients", value: patients },
	);
}

/**
 * The dataset with the patients on whom a task is evaluated, and which part of all they are: the first n, all, or by
 * default at most `most`, drawn at random.
 */
export async function evaluatedPatients(
	task: string,
	dataset: Dataset,
	{
		split,
		patients,
		most = mostEvaluated,
	}: Pick<results.EvaluateOptions, "split"> & {
		patients?: number | "all" | undefined;
		most?: number;
	},
): Promise<{ readonly people: Dataset; readonly sample?: results.Sample }> {
	const all = dataset.patients(split);
	if (patients === "all" || all.length <= (patients ?? most)) return { people: dataset };
	if (patients !== undefined)
		return {
			people: withPatients(dataset, split, all.subarray(0, patients)),
			sample: { patients, of: all.length, how: "first" },
		};
	const counted = await patientsWithLabels(task, dataset, split);
	if (counted.length <= most) return { people: dataset };
	// The same patients in every evaluation of the dataset, so that runs can be compared.
	const drawn = random(0)
		.fork("evaluated patients")
		.shuffle([...counted]);
	return {
		people: withPatients(dataset, split, Int32Array.from(drawn.slice(0, most)).sort()),
		sample: { patients: most, of: counted.length, how: "random" },
	};
}

/** Few patients may have one of the labels of a dataset; other tasks ask about everybody. */
async function patientsWithLabels(task: string, dataset: Dataset, split: Split) {
	if (!labelledTasks(dataset).includes(task) || isOnsetTask(dataset, task))
		return dataset.patients(split);
	const labels = labelsOf(dataset, await dataset.labels(labelsOfTask(task)), split);
	return Int32Array.from(new Set(labels.map(({ patient }) => patient)));
}

export const sampleText = ({ patients, of, how }: results.Sample): string =>
	how === "random"
		? `sample: ${thousands(patients)} of ${thousands(of)} patients, drawn at random, the same in every evaluation of this dataset; \`patients: "all"\` evaluates all`
		: `sample: the first ${thousands(patients)} of ${thousands(of)} patients in the order of their ids as text; \`patients: "all"\` evaluates all`;

/**
 * Prepares a task on a dataset; the baselines are evaluated here, once for all runs. What it returns evaluates one run, or
 * the baselines if there is no run. Of `clock`, in milliseconds, only differences matter.
 */
export async function openTask(
	task: string,
	dataset: Dataset,
	options: results.EvaluateOptions,
	{
		versions,
		clock,
	}: { readonly versions: Readonly<Record<string, string>>; readonly clock: () => number },
): Promise<(runtime: Runtime, trained?: Trained) => Promise<results.Evaluation>> {
	if (dataset.patients(options.split).length === 0)
		throw new InputError(`${dataset.folder} has no patients in split ${options.split}`);
	refuseSameLabels((options.compare ?? []).map(rowLabelOf));
	const began = clock();
	const { trainingDataset, fullDataset, ...others } = options;
	// A sample of test patients takes nobody from those that baselines learn from.
	const candidate = fullDataset && options.split !== "test" ? fullDataset : dataset;
	const hasTraining = candidate.patients("train").length > 0;
	const isHelpful =
		trainingDataset && (task === "onset" || labelledTasks(trainingDataset).includes(task));
	const source = hasTraining ? candidate : isHelpful ? trainingDataset : undefined;
	const used: results.EvaluateOptions = {
		...others,
		...(source ? source !== dataset && { trainingDataset: source } : { baselines: false }),
	};
	const measure = await measurer(task, dataset, used);
	const opening = clock() - began;
	return async (runtime, trained) => {
		const started = clock();
		const measured = await measure(runtime, trained);
		const external = trained !== undefined && results.isExternal(trained, dataset);
		return {
			kind: "trajgpt-evaluation",
			version: results.evaluationVersion,
			...measured,
			...(options.sample && { sample: options.sample }),
			notes: [
				...(external ? [externalNote(dataset, source, trainingDataset)] : []),
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

function externalNote(dataset: Dataset, source?: Dataset, trainingDataset?: Dataset): string {
	const { folder, manifest } = dataset;
	const whose = source === trainingDataset ? "the run's own" : "its";
	return `external validation on ${folder} (content ${manifest.contentHash.slice(0, 12)}), which the run has not learned from; ${
		source
			? `baselines and few-shot rows learn from ${whose} ${thousands(source.patients("train").length)} training patients`
			: "it has no training patients, and none of the run's own can be used here, so there are no baselines and no few-shot rows"
	}`;
}

function measurer(
	task: string,
	dataset: Dataset,
	options: results.EvaluateOptions,
): Promise<results.MeasureRun> {
	if (!isLabelledTask(task)) return unlabelled[task](dataset, options);
	if (labelledTasks(dataset).includes(task)) return labelledTask(task, dataset, options);
	throw new InputError(
		`${dataset.folder} has no task "${task}"; it has ${knownTasks(dataset).join(", ")}; to add one, pass its labels to prepare`,
	);
}

/** The tasks that use an option: in words, and whether a task of a dataset does. */
type Use = readonly [words: string, isBy: (task: string, dataset: Dataset) => boolean];

const ofIndexDays: Use = [
	"onset, and by futures where observation times are known",
	(task, { manifest: { observation } }) =>
		task === "onset" ||
		(task === "futures" && observation !== undefined && observation.from !== "records"),
];
const ofOutcomes: Use = [
	"onset and tasks with labels",
	(task) => task === "onset" || isLabelledTask(task),
];
const onlyBy = (name: string): Use => [name, (task) => task === name];

/** Options that only some tasks use; all others have an effect on every task. */
const uses = {
	index: ofIndexDays,
	horizons: onlyBy("onset"),
	lookBackDays: ofIndexDays,
	lookup: onlyBy("forecast"),
	methods: onlyBy("forecast"),
	shots: ["tasks with labels", isLabelledTask],
	code: ofOutcomes,
	compare: ofOutcomes,
	regressionPatients: ofOutcomes,
	futures: [
		"onset, forecast, chf and diabetes",
		(task, dataset) => ["onset", "forecast"].includes(task) || isOnsetTask(dataset, task),
	],
	oracle: [
		`onset, next, forecast, chf, diabetes, ${Object.keys(labelOracles).join(" and ")}`,
		(task, dataset) =>
			["onset", "next", "forecast", ...Object.keys(labelOracles)].includes(task) ||
			isOnsetTask(dataset, task),
	],
} as const satisfies Partial<Record<keyof results.EvaluateOptions, Use>>;

/** Refuses options that have no effect on a task. `requested` are names of options; those of every task may be among them. */
export function checkTaskOptions(task: string, dataset: Dataset, requested: readonly string[]) {
	// Unknown tasks are refused when they are opened.
	if (!knownTasks(dataset).includes(task)) return;
	for (const [option, [tasks, isBy]] of Object.entries<Use>(uses))
		if (requested.includes(option) && !isBy(task, dataset))
			throw new InputError(
				`\`${option}\` has no effect on task ${task}: it is used by ${tasks}; leave it out, or choose another \`task\``,
				{ field: option },
			);
}

/**
 * SHA-256 of everything that determines the numbers of an evaluation: patients, labels, options, weights, and the
 * fine-tuned weights of the task. File paths do not count.
 */
export async function evaluationInputsHash(
	task: string,
	dataset: Dataset,
	options: results.EvaluateOptions,
	trained?: Trained,
): Promise<string> {
	const { progress: _shown, oracle: _place, onPredictions: _ignored, ...rest } = options;
	const { baselines, trainingDataset, threads: _speed, sample, compare = [], ...others } = rest;
	const hash = createHash("sha256");
	hash.update(
		JSON.stringify({
			task,
			dataset: dataset.manifest.contentHash,
			patients: dataset.patients(options.split).length,
			options: Object.entries({
				...others,
				// Evaluations on disk were hashed with these names.
				...(baselines !== undefined && { opponents: baselines }),
				...(trainingDataset && { home: trainingDataset.manifest.contentHash }),
				// The number of patients says which are the first.
				...(sample?.how === "random" && { sample }),
			}).sort(([a], [b]) => (a < b ? -1 : 1)),
			model: trained?.model.id,
			config: trained?.config,
		}),
	);
	// The content hash of a dataset does not cover labels.
	for (const whose of trainingDataset ? [dataset, trainingDataset] : [dataset])
		if (whose.manifest.labels.some((known) => taskOfLabels(known.task) === task))
			hash.update(JSON.stringify(await whose.labels(labelsOfTask(task))));
	for (const file of compare) for await (const bytes of createReadStream(file)) hash.update(bytes);
	const add = (weights: ParameterValues | undefined) => {
		for (const [name, { data }] of weights ?? [])
			hash.update(name).update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
	};
	add(trained?.weights);
	// Task *next* uses the pre-trained weights only.
	if (trained && task !== "next") add(taskWeights(trained.folder, task)?.weights);
	return hash.digest("hex");
}
