import type { Dataset } from "../../cohort/index.js";
import { representations } from "../../infer/index.js";
import type { LinearHead } from "../../models/heads/label.js";
import type { Runtime } from "../../runtime/index.js";
import type { LabelQuery, Trained } from "../../train/index.js";
import { viewsOf } from "./label-set.js";
import { regression } from "./regression.js";

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
	const views = await viewsOf(dataset, [...labels.train, ...labels.valid]);
	const vectors = await representations(runtime, trained, views, maxLength);
	const taught = (vectors.length / views.length) * labels.train.length;
	const examples = (own: readonly LabelQuery[], ofThem: Float32Array) => ({
		vectors: ofThem,
		targets: own.map(({ value }) => Number(value)),
		weights: own.map(({ weight = 1 }) => weight),
		risks: own[0]?.risk === undefined ? undefined : own.map(({ risk = 0 }) => risk),
	});
	const { fit, standard } = regression(
		examples(labels.train, vectors.subarray(0, taught)),
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
