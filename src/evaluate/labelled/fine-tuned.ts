import { InputError } from "../../base/errors.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import {
	checkTask,
	finetuneCommand,
	fitLogistic,
	logisticLoss,
	readScoring,
	readTask,
	type Scoring,
	type Task,
	type Trained,
	taskIdentity,
	taskWeights,
} from "../../model/train/index.js";
import { taskScorer } from "../../predict/index.js";
import { isExternal } from "../is-external.js";
import { type LabelSet, viewsOf } from "./label-set.js";
import { taskCodes } from "./task-codes.js";
import { taskDefinition } from "./task-definition.js";

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
	{ train, valid, evaluated }: Readonly<Record<"train" | "valid" | "evaluated", LabelSet>>,
): Promise<FineTuned | undefined> {
	const begun = readTask(trained.folder, task);
	const best = begun && taskWeights(trained.folder, task);
	if (!begun || !best) return undefined;
	const external = isExternal(trained, dataset);
	const { labels: count = 0, labelsHash = "" } = begun.identity;
	checkTask(trained.folder, begun, {
		...taskIdentity(trained, labels),
		...(external && { labels: count, labelsHash }),
	});
	const kept = readScoring(trained.folder, task, best.step);
	if (!kept && external)
		throw new InputError(
			`${trained.folder} has no scale for the probabilities of ${task}, which comes from its own validation labels; run \`${finetuneCommand(trained.folder, begun, "--resume")}\``,
		);
	const scoring = kept ?? (await fitScoring(runtime, trained, dataset, begun, { train, valid }));
	const scorer = taskScorer(runtime, trained, { scoring, weights: best.weights });
	const probabilities = await scorer
		.probabilities(await viewsOf(dataset, evaluated.labels), evaluated.patients)
		.finally(() => scorer.dispose());
	return { probabilities, slope: scoring.slope, shift: scoring.shift, epoch: best.epoch };
}

/** What turns the log-odds of a fine-tuned model into probabilities: a scale that fits the validation labels. */
export async function fitScoring(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	{ task, options, head }: Task,
	{ train, valid }: Readonly<Record<"train" | "valid", LabelSet>>,
): Promise<Scoring> {
	const best = taskWeights(trained.folder, task);
	if (!best) throw new InputError(`${trained.folder} has no fine-tuned weights of ${task}`);
	const codes = taskCodes(task, dataset.vocabulary, undefined);
	const unscaled: Scoring = {
		task,
		...taskDefinition(dataset, task),
		prevalence: prevalenceOf(train),
		maxLength: options.maxLength,
		...(head?.risk !== undefined &&
			codes && {
				risk: {
					...{ tokens: [...codes.risk], horizonDays: codes.horizonDays },
					...(codes.sameDay && { sameDay: true }),
				},
			}),
		slope: 1,
		shift: 0,
	};
	const scorer = taskScorer(runtime, trained, { scoring: unscaled, weights: best.weights });
	const odds = await scorer
		.logOdds(await viewsOf(dataset, valid.labels), valid.patients)
		.finally(() => scorer.dispose());
	return { ...unscaled, ...recalibration(odds, valid.targets, valid.weights) };
}

/** The share of positives, each label counting as many patients as it stands for. */
export function prevalenceOf({ targets, weights }: LabelSet): number {
	let [positive, all] = [0, 0];
	for (const [at, weight] of weights.entries()) {
		positive += weight * (targets[at] as number);
		all += weight;
	}
	return positive / Math.max(1, all);
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
