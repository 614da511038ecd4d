import type { Progress } from "../base/progress.js";
import type { Dataset, Split } from "../data/cohort/index.js";
import { forecastMethods } from "../model/index.js";
import type { Trained } from "../model/train/index.js";
import type { Method, Sample } from "./evaluation.js";
import type { RowPredictions } from "./predictions.js";

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
	/** Task onset: `random` (default), `visit`, a date or `age:N`; horizons in years; days of look-back. */
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
	/** Whether to evaluate the baselines and, on simulated data, the oracle; true by default. */
	readonly baselines?: boolean;
	/** Whether rows keep per-patient values, for paired comparisons of rows from several files. */
	readonly keepPatients?: boolean;
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
