import {
	incidencesByAgeAndSex,
	onsetSums,
	type RatesByAgeAndSex,
	smoothRates,
} from "../../data/cohort/age-sex-rates.js";
import { recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset, Split } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { IndexedPatient } from "./index-days.js";

/** The rates from which onsets are expected within so many days. */
export interface ExpectedRates {
	readonly horizonDays: number;
	readonly rates: RatesByAgeAndSex;
}

/** Smooth rates by age and sex, of a split. Where neither is known, everybody has the crude rates. */
export async function expectedRates(
	dataset: Dataset,
	split: Split,
	options: { readonly horizonDays: number; readonly lookBackDays: number },
): Promise<ExpectedRates> {
	const rates = smoothRates(await onsetSums(dataset, split, options));
	return { horizonDays: options.horizonDays, rates };
}

/**
 * By token, the onsets to expect among patients who do not have it on their index day, while they are observed and
 * alive. It does not depend on what was recorded after that day: codes that are chosen by it are not chosen by chance.
 */
export function expectedOnsets(
	{ horizonDays, rates }: ExpectedRates,
	patients: readonly IndexedPatient[],
	vocab: number,
): Float64Array {
	const tokens = Array.from({ length: vocab - specialCount }, (_, i) => specialCount + i);
	const expected = new Float64Array(vocab);
	for (const { history, day, atRisk } of patients) {
		const { before } = recordDays(history, vocab, day);
		const observedDays =
			atRisk.endedBy === "death" ? horizonDays : Math.min(horizonDays, atRisk.until - day);
		const incidences = incidencesByAgeAndSex(rates, history, day, tokens, observedDays);
		for (const [i, token] of tokens.entries())
			if (before[token] === Number.NEGATIVE_INFINITY) expected[token] += incidences[i];
	}
	return expected;
}
