import type { Dataset, Label } from "../../cohort/index.js";
import { representations } from "../../infer/index.js";
import type { LinearHead } from "../../models/heads/label.js";
import type { Runtime } from "../../runtime/index.js";
import { fitLogistic, logisticLoss, logisticScores, type Trained } from "../../train/index.js";
import { viewsOf } from "./label-set.js";
import { standardised, standardOf } from "./standardised-directions.js";

const precisions = [1, 10, 100, 1000];

/**
 * A head on the frozen model: logistic regression on standardised representations, with the penalty chosen on the
 * validation labels. It sees the same part of a history as fine-tuning, which starts from this head: with a head
 * of zeros the first steps would fit the model to a useless head.
 */
export async function probe(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: Readonly<Record<"train" | "valid", readonly Label[]>>,
	maxLength: number,
): Promise<LinearHead> {
	const vectorsOf = async (own: readonly Label[]) =>
		representations(runtime, trained, await viewsOf(dataset, own), maxLength);
	const answersOf = (own: readonly Label[]) => own.map(({ value }) => Number(value));
	const vectors = await vectorsOf(labels.train);
	const width = vectors.length / labels.train.length;
	const standard = standardOf(vectors, width);
	const known = standardised(vectors, standard);
	const checked = standardised(await vectorsOf(labels.valid), standard);
	const fits = precisions.map((precision) => {
		const fit = fitLogistic(known, answersOf(labels.train), width, { precision });
		return { fit, loss: logisticLoss(logisticScores(checked, fit), answersOf(labels.valid)) };
	});
	const { fit } = fits.reduce((best, other) => (other.loss < best.loss ? other : best));
	// w · (x − mean) / deviation + b, rewritten as weights of x
	const weight = Float32Array.from(fit.weights, (w, j) => w / standard.deviation[j]!);
	const bias = fit.weights.reduce(
		(sum, w, j) => sum - (w * standard.mean[j]!) / standard.deviation[j]!,
		fit.bias,
	);
	return { weight, bias };
}
