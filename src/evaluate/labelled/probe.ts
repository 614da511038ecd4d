import { evenlySpread } from "../../base/evenly-spread.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { LinearHead } from "../../model/heads/label.js";
import type { LabelQuery, Trained } from "../../model/train/index.js";
import { representations } from "../../predict/index.js";
import { viewsOf } from "./label-set.js";
import { regression } from "./regression.js";

/** The most labels that the head is fitted to, which bounds the time that the regression takes. */
const mostProbed = 20_000;

/**
 * At most so many labels. Both values are thinned evenly, the rarer one only if it has more than half, and the rest
 * weighs for all.
 */
export function atMost(labels: readonly LabelQuery[], most: number): readonly LabelQuery[] {
	if (labels.length <= most) return labels;
	const groups = [true, false].map((value) => labels.filter((label) => label.value === value));
	const fewest = Math.min(...groups.map(({ length }) => length));
	const ofRarer = Math.min(fewest, Math.floor(most / 2));
	return groups.flatMap((group) => {
		const kept = evenlySpread(group, group.length === fewest ? ofRarer : most - ofRarer);
		const stands = group.length / kept.length;
		return kept.map((label) => ({ ...label, weight: (label.weight ?? 1) * stands }));
	});
}

/**
 * A head on the frozen model: logistic regression on representations and, if the labels have them, on the model's own
 * risks. It sees the same part of a history as fine-tuning, which starts from this head: with a head of zeros the first
 * steps would fit the model to a useless head.
 */
export async function probe(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: Readonly<Record<"train" | "valid", readonly LabelQuery[]>>,
	maxLength: number,
): Promise<LinearHead> {
	const train = atMost(labels.train, mostProbed);
	const views = await viewsOf(dataset, [...train, ...labels.valid]);
	const vectors = await representations(runtime, trained, views, maxLength);
	const taught = (vectors.length / views.length) * train.length;
	const examples = (own: readonly LabelQuery[], ofThem: Float32Array) => ({
		vectors: ofThem,
		targets: own.map(({ value }) => Number(value)),
		weights: own.map(({ weight = 1 }) => weight),
		risks: own[0]?.risk === undefined ? undefined : own.map(({ risk = 0 }) => risk),
	});
	const { fit, standard } = regression(
		examples(train, vectors.subarray(0, taught)),
		examples(labels.valid, vectors.subarray(taught)),
	);
	// w · (x − mean) / deviation + b, rewritten as weights of x
	const width = standard.mean.length;
	const own = fit.weights.subarray(0, width);
	const weight = Float32Array.from(own, (w, j) => w / standard.deviation[j]!);
	const bias = own.reduce(
		(sum, w, j) => sum - (w * standard.mean[j]!) / standard.deviation[j]!,
		fit.bias,
	);
	return { weight, bias, risk: fit.weights[width] };
}
