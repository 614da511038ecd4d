import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { InputError } from "../base/errors.js";
import { readJson, replaceFile } from "../base/files/index.js";
import type { Progress } from "../base/progress.js";
import { type Dataset, type Split, splitNames } from "../data/cohort/index.js";
import type { Sex } from "../data/records/rows.js";
import type { Runtime } from "../engine/runtime/index.js";
import { type ForecastMethod, forecastMethods } from "../model/index.js";
import { runFiles, type Trained } from "../model/train/index.js";

export type Method = ForecastMethod;

const count = z.int().min(0);

const measureSchema = z.strictObject({ value: z.number(), low: z.number(), high: z.number() });

/** A value measured on patients, with its 95 % interval. */
export type Measure = Readonly<z.infer<typeof measureSchema>>;

const measures = z.record(z.string(), measureSchema);

const rowNames = {
	/** `file`: predictions from elsewhere, read with `compare`. */
	who: z.enum(["model", "file", "history", "trees", "global", "oracle", "observed"]),
	/** The display name, such as "TrajGPT, time-specific". */
	label: z.string(),
	method: z.enum(forecastMethods).optional(),
	setting: z.enum(["zero-shot prototype", "zero-shot risk", "5-shot", "fine-tuned"]).optional(),
};

const rowSchema = z.strictObject({
	...rowNames,
	metrics: measures,
	/** The value of each metric on each bootstrap draw: little-endian float64 in base64. */
	byDraw: z.record(z.string(), z.base64()).optional(),
	/** Earlier versions kept values of patients instead. */
	byPatient: z.unknown().optional(),
});
export type EvaluationRow = z.infer<typeof rowSchema>;

/** Mean predicted probability and observed frequency of a bin, with a 95 % interval. */
const calibrationBin = z.strictObject({
	predicted: z.number(),
	observed: z.number(),
	low: z.number(),
	high: z.number(),
	count,
});
export type CalibrationBin = z.infer<typeof calibrationBin>;

/** `row` minus `than`, labels of rows. */
const pairs = z.array(z.strictObject({ row: z.string(), than: z.string(), metrics: measures }));

/** Frequent codes, of which at least 20 onsets are expected within the years, and all, of which at least one is. */
const onsetCodeCounts = z.strictObject({ years: z.number(), codes: count, allCodes: count });

const optionalMeasure = measureSchema.nullable();
const optionalNumber = z.number().nullable();

const spread = z
	.strictObject({ median: z.number(), lower: z.number(), upper: z.number(), codes: count })
	.nullable();

const onsetSchema = z.strictObject({
	index: z.string(),
	lookBackDays: z.number(),
	/** Calibration and decisions of the first row, over the frequent codes together. */
	horizons: z.array(
		onsetCodeCounts.extend({
			/** Of each row: slope and intercept of logistic recalibration, median and quartiles over frequent codes. */
			recalibration: z.array(
				z.strictObject({ label: z.string(), slope: spread, intercept: spread }),
			),
			calibration: z.array(
				z.strictObject({
					predicted: z.number(),
					observed: optionalNumber,
					low: optionalNumber,
					high: optionalNumber,
					count: z.number(),
				}),
			),
			decisions: z.array(
				z.strictObject({ threshold: z.number(), model: z.number(), all: z.number() }),
			),
		}),
	),
	subgroups: z.array(
		z.strictObject({
			name: z.string(),
			years: z.number(),
			patients: count,
			codes: count,
			rows: z.array(
				z.strictObject({
					label: z.string(),
					logLoss: z.number(),
					auroc: z.number(),
					averagePrecision: z.number(),
					/** null where a row predicts no risk at all. */
					observedToExpected: optionalNumber,
				}),
			),
		}),
	),
	/** Some conditions in detail, at the horizon nearest to five years. */
	conditions: z
		.array(
			z.strictObject({
				code: z.string(),
				system: z.string().nullable(),
				name: z.string(),
				years: z.number(),
				onsets: count,
				atRisk: count,
				/** Days after the index day at which `observed` is given. */
				days: z.array(z.number()),
				/** Fifths of the patients by the risk that the first row predicts, from low to high. */
				fifths: z.array(
					z.strictObject({
						count,
						/** Mean predicted risk within the horizon. */
						predicted: z.number(),
						/** Cumulative incidence by each day (Aalen–Johansen, death competing); null after follow-up. */
						observed: z.array(optionalNumber),
						/** 95 % limits at the horizon. */
						low: optionalNumber,
						high: optionalNumber,
					}),
				),
				/** Net benefit of treating by a threshold of predicted risk, beside treating all; treating none has 0. */
				decisions: z.array(
					z.strictObject({
						threshold: z.number(),
						all: z.number(),
						rows: z.array(z.strictObject({ label: z.string(), netBenefit: z.number() })),
					}),
				),
			}),
		)
		.optional(),
	codes: z.array(
		z.strictObject({
			years: z.number(),
			code: z.string(),
			system: z.string().nullable(),
			name: z.string(),
			onsets: count,
			/** Patients without the code on their index day. */
			atRisk: count,
			/** Onsets among them by the training patients' rates by age and sex. */
			expected: z.number(),
			rows: z.array(
				z.strictObject({
					label: z.string(),
					auroc: optionalMeasure,
					averagePrecision: optionalMeasure,
					observedToExpected: optionalMeasure,
					/** Of logistic recalibration, with limits from a robust variance. */
					calibrationSlope: optionalMeasure,
					calibrationIntercept: optionalMeasure,
				}),
			),
		}),
	),
});
export type OnsetDetails = z.infer<typeof onsetSchema>;

/** How a file of predictions compares with the rows of task onset, on the codes and horizons that the file has. */
const fileComparisonSchema = z.strictObject({
	/** Of the row from the file. */
	label: z.string(),
	horizons: z.array(onsetCodeCounts),
	notes: z.array(z.string()),
	rows: z.array(rowSchema),
	/** Of the model's row to that of the file. */
	differences: pairs,
});
export type FileComparison = z.infer<typeof fileComparisonSchema>;

export const evaluationVersion = 4;

export const evaluationSchema = z.strictObject({
	kind: z.literal("trajgpt-evaluation"),
	version: z.literal(evaluationVersion),
	task: z.string(),
	split: z.enum(splitNames),
	patients: count,
	events: count,
	/** Which part of the split was evaluated, if not all of it; `of` counts all its patients or, in tasks with labels in the dataset, those who have one. */
	sample: z
		.strictObject({ patients: count, of: count, how: z.enum(["random", "first"]) })
		.optional(),
	seed: z.int().min(0),
	/** Bootstrap draws. */
	draws: count,
	/** How to read the numbers: which patients were left out, how a baseline was tuned. */
	notes: z.array(z.string()),
	/** Why the numbers allow no conclusion: they rest on few patients, or on few of one class. */
	tooFew: z.string().optional(),
	/**
	 * Tasks *next* and *forecast*: the share of predicted events whose code is new for the patient. Every recall is
	 * also given of known codes (`recall@10 known`) and of new ones (`recall@10 new`).
	 */
	newCodes: measureSchema.optional(),
	rows: z.array(rowSchema),
	/** `row` minus `than` (labels of rows), on the same patients. */
	differences: pairs.optional(),
	/** Of the model: every code at every query. */
	calibration: z.array(calibrationBin).optional(),
	/** Of the model: its most likely code only. */
	topCalibration: z.array(calibrationBin).optional(),
	/** By distance in events, for each row: the recall@10 of every patient with (known, new) codes there. */
	windows: z
		.array(
			z.strictObject({
				window: z.string(),
				rows: z.array(
					z.strictObject({
						...rowNames,
						recall: z.array(z.number()),
						recallKnown: z.array(z.number()).optional(),
						recallNew: z.array(z.number()).optional(),
					}),
				),
			}),
		)
		.optional(),
	onset: onsetSchema.optional(),
	comparisons: z.array(fileComparisonSchema).optional(),
	made: z.strictObject({
		versions: z.record(z.string(), z.string()),
		/** The content hash of the dataset. */
		dataset: z.string(),
		/** The folder of the dataset, if it is not the one that the run has learned from. */
		external: z.string().optional(),
		/** The training step of the weights. */
		step: count,
		/** The hash of everything that determines the numbers: `evaluationInputsHash`. */
		basis: z.string().optional(),
		seconds: z.number().min(0),
	}),
});

/** The content of `eval/<task>.json` in a run's folder. */
export type Evaluation = z.infer<typeof evaluationSchema>;

/** The same without the values of rows on each draw, which take much space. */
export function withoutDraws(evaluation: Evaluation): Evaluation {
	const stripped = <Part extends Pick<Evaluation, "rows">>(part: Part): Part => ({
		...part,
		rows: part.rows.map(({ byDraw: _draws, ...row }) => row),
	});
	const { comparisons } = evaluation;
	return {
		...stripped(evaluation),
		...(comparisons && { comparisons: comparisons.map(stripped) }),
	};
}

/** Which part of a split was evaluated. */
export type Sample = NonNullable<Evaluation["sample"]>;

/** The results, without the metadata of the evaluation. */
export type Measured = Omit<Evaluation, "kind" | "version" | "made">;

/** Evaluates one run, or the baselines if there is no run. */
export type MeasureRun = (runtime: Runtime, trained?: Trained) => Promise<Measured>;

/** Where an evaluation is kept; those on another dataset than the run's are kept apart, by its content hash. */
export const evaluationFile = (run: string, task: string, otherDataset?: string): string =>
	join(
		runFiles(run).evaluations,
		...(otherDataset === undefined ? [] : ["external", otherDataset.slice(0, 12)]),
		`${task}.json`,
	);

/** Writes an evaluation to the folder of its run and replaces an earlier one of the task. */
export async function writeEvaluation(run: string, evaluation: Evaluation): Promise<string> {
	const { dataset, external } = evaluation.made;
	const file = evaluationFile(run, evaluation.task, external && dataset);
	await mkdir(dirname(file), { recursive: true });
	await replaceFile(file, (path) => writeFile(path, `${JSON.stringify(evaluation, null, 2)}\n`));
	return file;
}

const again = (tasks: readonly string[]) =>
	`run \`trajgpt evaluate\` with ${tasks.map((task) => `--task ${task}`).join(", ")} again`;

/** Refuses evaluations that an earlier version of trajgpt wrote, all at once. */
export function refuseEarlier(run: string, tasks: readonly string[], otherDataset?: string): void {
	const earlier = tasks.filter((task) => {
		const file = evaluationFile(run, task, otherDataset);
		if (!existsSync(file)) return false;
		const any = z.object({ version: z.unknown().optional() });
		return Number(readJson(file, any, again([task])).version) < evaluationVersion;
	});
	if (earlier.length === 0) return;
	const files = earlier.map((task) => evaluationFile(run, task, otherDataset)).join(", ");
	throw new InputError(
		`${files} ${earlier.length > 1 ? "were" : "was"} written by an earlier version of trajgpt; ${again(earlier)}`,
	);
}

/** Reads a run's evaluation of a task, on its own dataset or on another one; undefined if there is none. */
export async function readEvaluation(
	run: string,
	task: string,
	otherDataset?: string,
): Promise<Evaluation | undefined> {
	const file = evaluationFile(run, task, otherDataset);
	if (!existsSync(file)) return undefined;
	refuseEarlier(run, [task], otherDataset);
	return readJson(file, evaluationSchema, again([task]));
}

/** The evaluations of a run on its own dataset; one that cannot be read is an error. */
export async function evaluationsOf(run: string): Promise<Evaluation[]> {
	const names = await readdir(runFiles(run).evaluations).catch(() => []);
	const evaluations: Evaluation[] = [];
	for (const name of names.filter((name) => name.endsWith(".json")).sort()) {
		const evaluation = await readEvaluation(run, name.slice(0, -".json".length));
		if (evaluation) evaluations.push(evaluation);
	}
	return evaluations;
}

/** Like `readEvaluation`, but undefined if the file cannot be read, such as one of another version. */
export async function tryReadEvaluation(
	...of: Parameters<typeof readEvaluation>
): Promise<Evaluation | undefined> {
	try {
		return await readEvaluation(...of);
	} catch (error) {
		if (error instanceof InputError) return undefined;
		throw error;
	}
}

export interface LabelPrediction {
	readonly patient: string;
	/** In days; the records up to it were known. */
	readonly time: number;
	/** The observed value; null if it is unknown. */
	readonly label: boolean | null;
	readonly probability: number;
	/** How many patients it stands for, where censored ones count through others; 1 if left out. */
	readonly weight?: number | undefined;
	/** Task onset: the code that is predicted, its system, and the horizon. */
	readonly code?: string | undefined;
	readonly system?: string | null | undefined;
	readonly horizonDays?: number | undefined;
	readonly sex: Sex | null;
	readonly ageYears: number | null;
}

/** The predictions behind one row of an evaluation. */
export interface RowPredictions {
	/** The label of the row, such as "TrajGPT, fine-tuned". */
	readonly row: string;
	readonly predictions: readonly LabelPrediction[];
	/** What the reader of a file of them should know. */
	readonly notes: readonly string[];
}

/** The most patients or labels that a regression learns from, which bounds its memory. */
export const regressionLimit = 100_000;

export interface EvaluateOptions {
	readonly split: Split;
	/** The seed of the bootstrap and of all other draws. */
	readonly seed: number;
	readonly draws: number;
	/** Task forecast: the number of known events, and the number of later events to predict. */
	readonly lookup: number;
	readonly ahead: number;
	/** Task forecast: how the model predicts later times. */
	readonly methods: readonly Method[];
	/** Tasks with labels: the number of labels for few-shot learning (5). */
	readonly shots?: number;
	/** Tasks with labels: the code of the task. Task onset: the code of `onPredictions`. */
	readonly code?: string;
	/** Tasks forecast, onset, chf and diabetes: futures that the oracle samples per patient. */
	readonly futures: number;
	/**
	 * Task onset: `random`, `visit`, a date or `age:N`; by default the first of January that leaves the most time at risk,
	 * or `random` where times are not dates. Horizons in years; days of look-back.
	 */
	readonly index?: string;
	readonly horizons?: readonly number[];
	readonly lookBackDays?: number;
	/** Task onset: the last day that the runs and their baselines have learned from, if the dataset was cut. */
	readonly before?: number;
	/**
	 * The dataset that the runs have learned from, where they are evaluated on another one without training patients:
	 * baselines and few-shot rows of task onset and of labelled tasks then learn from it.
	 */
	readonly trainingDataset?: Dataset;
	/** Which part of the split the dataset has; all if left out. */
	readonly sample?: Sample;
	/** The dataset before the sample was taken, whose training and validation patients baselines learn from. */
	readonly fullDataset?: Dataset;
	/** Files with predictions for the same patients. Each becomes a row beside the model's. Only onset and tasks with labels read them. */
	readonly compare?: readonly string[];
	/** Whether to evaluate the baselines and, on simulated data, the oracle; true by default. */
	readonly baselines?: boolean;
	/** Whether rows keep their values on each draw, for paired comparisons of rows from several files. */
	readonly keepDraws?: boolean;
	/** The folder of the simulated population, if it is not found automatically. */
	readonly oracle?: string;
	/**
	 * Called with the predictions behind the model's row: the fine-tuned one of a labelled task, or else its zero-shot
	 * risk; in task onset those of `code`.
	 */
	readonly onPredictions?: (predictions: RowPredictions) => void;
	/** Tasks onset and with labels: training patients or labels that regressions learn from, at most (100,000). */
	readonly regressionPatients?: number;
	/** Task onset: threads that fit regressions. */
	readonly threads?: number | undefined;
	readonly progress?: Progress;
}

export const evaluateDefaults = {
	split: "test",
	seed: 0,
	draws: 1000,
	lookup: 50,
	ahead: 100,
	futures: 256,
	methods: forecastMethods,
} as const satisfies EvaluateOptions;

/** Whether a dataset is another than the one that a run has learned from. */
export const isExternal = ({ run }: Pick<Trained, "run">, { manifest }: Dataset): boolean =>
	run.dataset.contentHash !== manifest.contentHash;
