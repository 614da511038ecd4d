import type { Dataset } from "../../data/cohort/index.js";
import type { MeasureRun } from "../evaluation.js";
import type { EvaluateOptions } from "../options.js";
import { populationTask } from "./population.js";
import { sequenceTask } from "./sequences.js";

/**
 * Task *futures*. Where it is known when patients were observed, sampled futures are compared with what happened.
 * Elsewhere, patients are event sequences, and predictions are scored as in the HoTPP benchmark.
 */
export const futuresTask = (dataset: Dataset, options: EvaluateOptions): Promise<MeasureRun> => {
	const { observation } = dataset.manifest;
	const isKnown = observation !== undefined && observation.from !== "records";
	return (isKnown ? populationTask : sequenceTask)(dataset, options);
};
