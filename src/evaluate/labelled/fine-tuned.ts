import type { Dataset, Label } from "../../cohort/index.js";
import { historyRows } from "../../infer/index.js";
import { riskFeeds } from "../../models/objectives/label.js";
import { pooledFeeds } from "../../models/pooling.js";
import type { Runtime } from "../../runtime/index.js";
import {
	checkTask,
	fitLogistic,
	logisticLoss,
	logOdds,
	readTask,
	type Trained,
	taskIdentity,
	taskWeights,
	withLabelQuery,
} from "../../train/index.js";
import type { LabelSet } from "./label-set.js";
import { withRisks } from "./zero-shot-risk.js";

export interface FineTuned {
	readonly probabilities: Float64Array;
	/** The recalibration of the log-odds on the validation labels. */
	readonly slope: number;
	readonly shift: number;
	readonly epoch: number;
}

/** Predictions with the fine-tuned weights of a run; undefined if there are none for the task. */
export async function fineTuned(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	task: string,
	labels: readonly Label[],
	valid: LabelSet,
	questions: LabelSet,
): Promise<FineTuned | undefined> {
	const begun = readTask(trained.folder, task);
	const best = begun && taskWeights(trained.folder, task);
	if (!begun || !best) return undefined;
	checkTask(trained.folder, begun, taskIdentity(trained, labels));
	const readsRisks = begun.head?.risk !== undefined;
	const oddsOf = async (own: readonly Label[]) => {
		const asked = readsRisks ? await withRisks(runtime, trained, dataset, task, own) : own;
		return historyRows(
			runtime,
			{
				weights: best.weights,
				build: (parameters, shape) => logOdds(trained, parameters, shape),
				feeds: (batch) => ({
					...pooledFeeds(trained.model, trained.config, batch),
					...(readsRisks && riskFeeds(batch)),
				}),
			},
			await Promise.all(
				asked.map(async (label) => withLabelQuery(await dataset.read(label.patient), label)),
			),
			Math.min(
				begun.options.maxLength,
				trained.model.context?.(trained.config) ?? Number.POSITIVE_INFINITY,
			),
		);
	};
	const { slope, shift } = recalibration(await oddsOf(valid.labels), valid.targets, valid.weights);
	const odds = await oddsOf(questions.labels);
	return {
		probabilities: Float64Array.from(odds, (z) => 1 / (1 + Math.exp(-(slope * z + shift)))),
		slope,
		shift,
		epoch: best.epoch,
	};
}

/**
 * Fits a slope and a shift of the log-odds to the labels, with a penalty towards slope 1, because training to
 * convergence makes a model overconfident. Leaves the log-odds unchanged if all labels are equal.
 */
export function recalibration(
	logOdds: ArrayLike<number>,
	targets: ArrayLike<number>,
	weights?: ArrayLike<number>,
): { readonly slope: number; readonly shift: number } {
	const same = { slope: 1, shift: 0 };
	let positive = 0;
	for (let at = 0; at < targets.length; at++) positive += targets[at]!;
	if (positive === 0 || positive === targets.length) return same;
	const fit = fitLogistic(logOdds, targets, 1, { precision: 1, centre: [1], weights });
	const changed = { slope: fit.weights[0]!, shift: fit.bias };
	const moved = Float64Array.from(logOdds, (z) => changed.slope * z + changed.shift);
	const better = logisticLoss(moved, targets, weights) < logisticLoss(logOdds, targets, weights);
	return better && changed.slope > 0 ? changed : same;
}
