import { specialCount, type Vocabulary } from "../../../src/data/cohort/vocabulary.js";

/** Diabetes, heart failure, ischaemic heart disease, kidney disease, stroke and COPD, as PheCodes. */
const usual = ["250", "428", "411", "585", "433", "496"];

/** Conditions that people ask about, or the six most frequent codes. */
export function defaultCodes(vocabulary: Vocabulary): number[] {
	const named = usual.flatMap((code) => vocabulary.find(code, "PheCode") ?? []);
	if (named.length > 0) return named;
	return [...vocabulary.tokens.keys()]
		.slice(specialCount)
		.sort((a, b) => (vocabulary.tokens[b]?.count ?? 0) - (vocabulary.tokens[a]?.count ?? 0))
		.slice(0, usual.length);
}
