import type { Dataset, Label } from "../../cohort/index.js";
import { representations } from "../../infer/index.js";
import type { LinearHead } from "../../models/heads/label.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";
import { viewsOf } from "./label-set.js";
import { regression } from "./regression.js";

/**
 * A head on the frozen model: logistic regression on representations. It sees the same part of a history as fine-tuning, which starts from this head: with a head
 * of zeros the first steps would fit the model to a useless head.
 */
export async function probe(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: Readonly<Record<"train" | "valid", readonly Label[]>>,
	maxLength: number,
): Promise<LinearHead> {
	const examples = async (own: readonly Label[]) => ({
		vectors: await representations(runtime, trained, await viewsOf(dataset, own), maxLength),
		targets: own.map(({ value }) => Number(value)),
	});
	const { fit, standard } = regression(await examples(labels.train), await examples(labels.valid));
	// w · (x − mean) / deviation + b, rewritten as weights of x
	const weight = Float32Array.from(fit.weights, (w, j) => w / standard.deviation[j]!);
	const bias = fit.weights.reduce(
		(sum, w, j) => sum - (w * standard.mean[j]!) / standard.deviation[j]!,
		fit.bias,
	);
	return { weight, bias };
}
