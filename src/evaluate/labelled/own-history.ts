import type { Dataset, Label } from "../../data/cohort/index.js";
import { logisticScores } from "../../model/train/index.js";
import { type LabelSet, viewOf } from "./label-set.js";
import { regression } from "./regression.js";
import { standardised } from "./standardised-directions.js";

/** Counts the records of some codes in each history. */
export async function recordCounts(
	dataset: Dataset,
	labels: readonly Label[],
	codes: readonly number[],
): Promise<Float64Array> {
	const wanted = new Set(codes);
	const counts = new Float64Array(labels.length);
	for (const [at, label] of labels.entries())
		for (const token of (await viewOf(dataset, label)).tokens)
			if (wanted.has(token)) counts[at]! += 1;
	return counts;
}

/** Features of a history: records per code, number of records, duration and the last gap. */
async function countFeatures(dataset: Dataset, labels: readonly Label[]): Promise<Float32Array> {
	const { size } = dataset.vocabulary;
	const width = size + 3;
	const features = new Float32Array(labels.length * width);
	for (const [row, label] of labels.entries()) {
		const { tokens, times } = await viewOf(dataset, label);
		const own = features.subarray(row * width, (row + 1) * width);
		for (const token of tokens) own[token]! += 1;
		for (let code = 0; code < size; code++) own[code] = Math.log1p(own[code]!);
		const [first, last] = [times[0] ?? label.time, times.at(-1) ?? label.time];
		own.set([Math.log1p(tokens.length), label.time - first, Math.log1p(label.time - last)], size);
	}
	return features;
}

/** The baseline with the same labels: logistic regression on counts, learned at home. */
export async function countRegression(
	{ dataset: home, train, valid }: Readonly<{ dataset: Dataset; train: LabelSet; valid: LabelSet }>,
	{ dataset, evaluated }: Readonly<{ dataset: Dataset; evaluated: LabelSet }>,
): Promise<{ readonly logOdds: Float64Array; readonly precision: number }> {
	const examples = async ({ labels, targets, weights }: LabelSet) => ({
		vectors: await countFeatures(home, labels),
		...{ targets, weights },
	});
	const { fit, precision, standard } = regression(await examples(train), await examples(valid));
	const own = standardised(await countFeatures(dataset, evaluated.labels), standard);
	return { logOdds: logisticScores(own, fit), precision };
}
