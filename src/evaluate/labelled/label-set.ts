import { random } from "../../base/random.js";
import type { Dataset, History, Label, Split } from "../../data/cohort/index.js";
import { labelsOf } from "../../model/train/index.js";
import type { ViewedHistory } from "../../predict/index.js";
import { ratioOf, type Statistic } from "../bootstrap.js";
import { evenShares, probabilityBins, quantileEdges } from "../calibration.js";
import { ranking } from "../metrics.js";
import { lossOf } from "../survival/scores.js";

/** The labels of a split, as they are measured. */
export type LabelSet = ReturnType<typeof labelSetOf>;

export function labelSetOf(dataset: Dataset, all: readonly Label[], split: Split) {
	const labels = labelsOf(dataset, all, split);
	const numbers = new Map<number, number>();
	for (const { patient } of labels) if (!numbers.has(patient)) numbers.set(patient, numbers.size);
	return {
		labels,
		weights: Float64Array.from(labels, ({ weight = 1 }) => weight),
		targets: Uint8Array.from(labels, ({ value }) => Number(value)),
		patients: Int32Array.from(labels, ({ patient }) => numbers.get(patient)!),
		count: numbers.size,
	};
}

/** The part of a history that a label lets the model see, represented at the label's time. */
async function viewOf(
	dataset: Dataset,
	label: Label,
): Promise<ViewedHistory & Pick<History, "tokens" | "times" | "birthEvents">> {
	const { tokens, times, birthEvents } = await dataset.read(label.patient);
	const seen = birthEvents + label.events;
	return {
		tokens: tokens.subarray(0, seen),
		times: times.subarray(0, seen),
		birthEvents,
		at: label.time,
	};
}

export const viewsOf = (dataset: Dataset, labels: readonly Label[]) =>
	Promise.all(labels.map((label) => viewOf(dataset, label)));

export const positivesOf = ({ targets }: LabelSet) => targets.reduce((a, b) => a + b, 0);

/** Binary labels of patients; a patient may have several. */
export interface LabelledPatients {
	readonly targets: Uint8Array;
	/** The index of each label's patient, from 0. */
	readonly patients: Int32Array;
	readonly count: number;
	/** How many patients each label stands for; 1 if left out. */
	readonly weights?: Float64Array;
}

type Statistics = Readonly<Record<string, Statistic>>;

/** Turns a statistic of labels into one of patients. */
function ofPatients(
	{ patients, weights: ofLabels }: LabelledPatients,
	statistic: Statistic,
): Statistic {
	const labelWeights = new Float64Array(patients.length);
	return (weights) => {
		for (let i = 0; i < labelWeights.length; i++)
			labelWeights[i] = weights[patients[i]] * (ofLabels?.[i] ?? 1);
		return statistic(labelWeights);
	};
}

export function rankStatistics(labelled: LabelledPatients, scores: ArrayLike<number>): Statistics {
	const { averagePrecision, auroc } = ranking(labelled.targets, scores);
	return { auprc: ofPatients(labelled, averagePrecision), auroc: ofPatients(labelled, auroc) };
}

export function probabilityStatistics(
	labelled: LabelledPatients,
	probabilities: ArrayLike<number>,
): Statistics {
	const { targets } = labelled;
	const losses = Float64Array.from(targets, (target, i) => lossOf(target, probabilities[i]));
	const errors = Float64Array.from(targets, (target, i) => (probabilities[i] - target) ** 2);
	const everyLabel = new Float64Array(targets.length).fill(1);
	const meanOf = (values: ArrayLike<number>) => ratioOf(values, everyLabel);
	const meanError = meanOf(errors);
	const share = meanOf(targets);
	return {
		logLoss: ofPatients(labelled, meanOf(losses)),
		/** 1 − Brier score / Brier score of the observed share. */
		brierSkill: ofPatients(labelled, (weights) => {
			const observed = share(weights);
			const error = observed * (1 - observed);
			return error > 0 ? 1 - meanError(weights) / error : Number.NaN;
		}),
		calibrationError: calibrationBins(labelled, probabilities).error("predictions"),
	};
}

/** The number of bins with at least a hundred labels each: three to ten. */
export const binsFor = (targets: number): number =>
	Math.max(3, Math.min(10, Math.floor(targets / 100)));

/** Bins with equal numbers of labels. */
export function calibrationBins(
	{ targets, patients, count, weights }: LabelledPatients,
	probabilities: ArrayLike<number>,
) {
	const shares = evenShares(binsFor(targets.length));
	const bins = probabilityBins(count, quantileEdges(probabilities, shares));
	for (let i = 0; i < targets.length; i++)
		bins.add(patients[i], probabilities[i], targets[i] === 1, weights?.[i]);
	return bins;
}

/**
 * Means over few-shot draws. Each bootstrap draw of patients also resamples the few-shot draws, so the interval
 * is over both.
 */
export function fewShotStatistics(
	labelled: LabelledPatients,
	scoresByDraw: readonly ArrayLike<number>[],
): Statistics {
	const drawn = scoresByDraw.map((scores) => rankStatistics(labelled, scores));
	const mean =
		(metric: string): Statistic =>
		(weights) => {
			const { integer } = random(seedOf(weights));
			const plain = isEven(weights);
			const times = new Uint32Array(drawn.length);
			for (let i = 0; i < drawn.length; i++) times[plain ? i : integer(drawn.length)] += 1;
			return drawn.reduce(
				(sum, statistics, i) =>
					times[i] ? sum + (times[i] * statistics[metric](weights)) / drawn.length : sum,
				0,
			);
		};
	return { auprc: mean("auprc"), auroc: mean("auroc") };
}

function isEven(weights: ArrayLike<number>): boolean {
	for (let i = 0; i < weights.length; i++) if (weights[i] !== weights[0]) return false;
	return true;
}

/** A seed that depends on the weights alone. */
function seedOf(weights: ArrayLike<number>): number {
	let seed = 0;
	for (let i = 0; i < weights.length; i++) seed = (Math.imul(seed, 31) + weights[i]) | 0;
	return seed;
}
