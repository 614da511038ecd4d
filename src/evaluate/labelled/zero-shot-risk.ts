import type { Dataset, Label } from "../../cohort/index.js";
import type { Predictor } from "../../models/index.js";
import { viewsOf } from "./label-set.js";

/** Patients per batch; their predictions are held in memory. */
const chunk = 256;

/** The probability of some codes at the time of each label. */
export async function risks(
	predictor: Predictor,
	dataset: Dataset,
	labels: readonly Label[],
	codes: readonly number[],
): Promise<Float64Array> {
	const found = new Float64Array(labels.length);
	for (let first = 0; first < labels.length; first += chunk) {
		const some = labels.slice(first, first + chunk);
		const { logProbabilities, vocab } = await predictor.score(
			await viewsOf(dataset, some),
			some.map(({ time }) => [time]),
		);
		for (let i = 0; i < some.length; i++)
			for (const code of codes) found[first + i]! += Math.exp(logProbabilities[i * vocab + code]!);
	}
	return found;
}
