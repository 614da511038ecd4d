import {
	cellOf,
	incidenceAtRate,
	type OnsetSums,
	onsetSums,
	ratesOf,
} from "../../cohort/age-sex-rates.js";
import type { Dataset } from "../../cohort/index.js";
import { specialCount } from "../../cohort/vocabulary.js";
import type { IndexedPatient } from "./index-days.js";

/** Person-years of the rate at the age that are added to each cell; chosen on validation. */
const priorYears = [1, 10, 100, 1000];
/** Where there are no validation patients. */
const usualPriorYears = 100;

/** −log likelihood of what happened under constant rates. */
const natsOf = ({ onsets, days }: OnsetSums, rates: Float64Array): number =>
	rates.reduce(
		(sum, rate, at) => sum + rate * (days[at] as number) - (onsets[at] as number) * Math.log(rate),
		0,
	);

/**
 * The risk of each code by age and sex alone, from rates of the training patients in bands of five years: what
 * anyone knows without a history. Death competes. [patients, vocab]
 */
export async function ageSexRisks(
	dataset: Dataset,
	patients: readonly Pick<IndexedPatient, "history" | "day">[],
	horizonDays: number,
	options: { readonly seed: number; readonly lookBackDays: number },
): Promise<Float32Array> {
	const vocab = dataset.vocabulary.size;
	const known = await onsetSums(dataset, "train", { ...options, horizonDays });
	const checked = await onsetSums(dataset, "valid", { ...options, horizonDays });
	const choice = checked.patients > 0 ? priorYears : [usualPriorYears];
	const rates = choice
		.map((years) => ratesOf(known, years))
		.reduce((best, other) => (natsOf(checked, other) < natsOf(checked, best) ? other : best));
	const risks = new Float32Array(patients.length * vocab);
	for (const [at, one] of patients.entries()) {
		const cell = cellOf(one) * known.width;
		const dying = rates[cell + vocab] as number;
		for (let token = specialCount; token < vocab; token++)
			risks[at * vocab + token] = incidenceAtRate(
				rates[cell + token] as number,
				dying,
				horizonDays,
			);
	}
	return risks;
}
