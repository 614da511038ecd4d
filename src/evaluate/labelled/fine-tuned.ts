import { InputError } from "../../base/errors.js";
import type { Dataset, Label } from "../../data/cohort/index.js";
import { insulinDays, labelRules, type Mark } from "../../data/cohort/label-rules.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { tokensOf } from "../../data/tasks/index.js";
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
import { spanText } from "../../predict/user-input/index.js";
import { onsetHorizonDays } from "../onset/onset-labels.js";
import { isExternal } from "../options.js";
import { type LabelSet, viewsOf } from "./label-set.js";
import { isOnsetTask, markedTokens, onsetTask, taskCodes } from "./task-labels.js";

interface FineTuned {
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
					tokens: [...codes.risk],
					horizonDays: codes.horizonDays,
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
	for (const [index, weight] of weights.entries()) {
		positive += weight * targets[index];
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
	for (let i = 0; i < targets.length; i++) positive += targets[i];
	if (positive === 0 || positive === targets.length) return same;
	const fit = fitLogistic(logOdds, targets, 1, { precision: 1, centre: [1], weights });
	const changed = { slope: fit.weights[0], shift: fit.bias };
	const moved = Float64Array.from(logOdds, (z) => changed.slope * z + changed.shift);
	const better = logisticLoss(moved, targets, weights) < logisticLoss(logOdds, targets, weights);
	return better && changed.slope > 0 ? changed : same;
}

/** The part of a scoring that says what is predicted, and for whom. */
type Definition = Pick<Scoring, "definition" | "source" | "horizonDays" | "outside">;

/** What a positive label of a task means, where that is defined, and which patients it is not about. */
function taskDefinition(dataset: Dataset, task: string): Definition {
	const { vocabulary, manifest } = dataset;
	const source = `built-in task ${task}`;
	const outside = (when: "recorded" | "missing", mark: Mark, what: string) => {
		const tokens = markedTokens(vocabulary, mark);
		return tokens.length > 0 && { outside: { tokens, if: when, what } };
	};
	if (isOnsetTask(dataset, task)) {
		const { mark, what } = onsetTask(task);
		return {
			definition: `a first record of ${what} within ${spanText(onsetHorizonDays)}, in patients without one`,
			source,
			horizonDays: onsetHorizonDays,
			...outside("recorded", mark, what),
		};
	}
	const definition = manifest.labels.find((known) => known.task === task)?.definition;
	if (definition) {
		const { what, without, ...others } = definition;
		const tokens = without ? tokensOf(vocabulary, without.codes) : [];
		return {
			definition: what,
			...others,
			...(tokens.length > 0 && {
				outside: {
					tokens,
					if: "recorded",
					what: tokenText(vocabulary, tokens),
					...(without?.withinDays !== undefined && { withinDays: without.withinDays }),
				},
			}),
		};
	}
	if (task === "insulin")
		return {
			definition: `insulin within ${insulinDays} days of the first record of diabetes (PheCode 250), predicted on the day of that record`,
			source,
			horizonDays: insulinDays,
			...outside("missing", "diabetes", "diabetes (PheCode 250)"),
		};
	if (task === "chf-paper")
		return {
			definition: labelRules.chf,
			source,
			...outside("recorded", "heart-failure", "heart failure (PheCode 428)"),
		};
	return {
		definition: `a positive label of task ${task}, as its labels define it`,
		source: `labels of the dataset: ${task}`,
	};
}

/** The first tokens by name. */
function tokenText({ tokens: all }: Vocabulary, tokens: readonly number[]): string {
	const names = tokens.slice(0, 3).map((token) => {
		const { name, code, system } = all[token];
		return `${name} (${system === null ? "" : `${system} `}${code})`;
	});
	const more = tokens.length - names.length;
	return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
