import type { Dataset, Label } from "../../cohort/index.js";
import { historyRows } from "../../infer/index.js";
import { pooledFeeds } from "../../models/pooled.js";
import type { Runtime } from "../../runtime/index.js";
import {
	asked,
	checkTask,
	fitLogistic,
	logisticLoss,
	logOdds,
	readTask,
	type Trained,
	taskIdentity,
	taskWeights,
} from "../../train/index.js";
import type { Questions } from "./questions.js";

export interface FineTuned {
	readonly probabilities: Float64Array;
	/** How the validation labels changed the log-odds. */
	readonly slope: number;
	readonly shift: number;
	readonly epoch: number;
}

/** What the fine-tuned weights of a run say; undefined where it has none for the task. */
export async function fineTuned(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	task: string,
	labels: readonly Label[],
	valid: Questions,
	questions: Questions,
): Promise<FineTuned | undefined> {
	const begun = readTask(trained.folder, task);
	const best = begun && taskWeights(trained.folder, task);
	if (!begun || !best) return undefined;
	checkTask(trained.folder, begun, taskIdentity(trained, labels));
	const oddsOf = async (own: readonly Label[]) =>
		historyRows(
			runtime,
			{
				weights: best.weights,
				build: (parameters, shape) => logOdds(trained, parameters, shape),
				feeds: (batch) => pooledFeeds(trained.model, trained.config, batch),
			},
			await Promise.all(own.map(async (label) => asked(await dataset.read(label.patient), label))),
			Math.min(
				begun.options.maxLength,
				trained.model.context?.(trained.config) ?? Number.POSITIVE_INFINITY,
			),
		);
	const { slope, shift } = recalibration(await oddsOf(valid.labels), valid.answers);
	const odds = await oddsOf(questions.labels);
	return {
		probabilities: Float64Array.from(odds, (z) => 1 / (1 + Math.exp(-(slope * z + shift)))),
		slope,
		shift,
		epoch: best.epoch,
	};
}

/**
 * A slope and a shift for log-odds that fit the answers, held to a slope of 1: training to the end
 * makes a model too sure of itself. Left as they are where the answers are all the same.
 */
export function recalibration(
	logOdds: ArrayLike<number>,
	answers: ArrayLike<number>,
): { readonly slope: number; readonly shift: number } {
	const same = { slope: 1, shift: 0 };
	let positive = 0;
	for (let at = 0; at < answers.length; at++) positive += answers[at]!;
	if (positive === 0 || positive === answers.length) return same;
	const fit = fitLogistic(logOdds, answers, 1, { precision: 1, centre: [1] });
	const changed = { slope: fit.weights[0]!, shift: fit.bias };
	const moved = Float64Array.from(logOdds, (z) => changed.slope * z + changed.shift);
	const better = logisticLoss(moved, answers) < logisticLoss(logOdds, answers);
	return better && changed.slope > 0 ? changed : same;
}
