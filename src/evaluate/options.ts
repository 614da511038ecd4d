import type { Progress } from "../base/progress.js";
import type { Split } from "../cohort/index.js";
import { forecastMethods } from "../models/index.js";
import type { Method } from "./evaluation.js";

export interface EvaluateOptions {
	readonly split: Split;
	/** Of the bootstrap, and of whatever else is drawn. */
	readonly seed: number;
	/** Of the bootstrap. */
	readonly draws: number;
	/** Task forecast: events that are known, and how many after them are asked about. */
	readonly lookup: number;
	readonly ahead: number;
	/** Task forecast: how the model gets to later times. */
	readonly methods: readonly Method[];
	/** Tasks with labels: how many of them the few-shot row sees (5), and the code the task is about. */
	readonly shots?: number;
	readonly code?: string;
	/** Task forecast: futures the oracle samples for each patient. */
	readonly futures: number;
	/** Whether counts and, on simulated data, the oracle stand beside the model; they do if left out. */
	readonly baselines?: boolean;
	/** Whether rows keep what each patient adds to them, so that rows of several files can be drawn together. */
	readonly keepPatients?: boolean;
	/** The folder of the simulated population, where it is not found by itself. */
	readonly oracle?: string;
	/** Tells how far it is. */
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
