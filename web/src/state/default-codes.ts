import { specialCount, type Vocabulary } from "../../../src/cohort/vocabulary.js";

/** Diabetes and heart failure, as in the labelled tasks, or the two most frequent codes. */
export function defaultCodes(vocabulary: Vocabulary): number[] {
	const named = ["250", "428"].flatMap((code) => vocabulary.find(code, "PheCode") ?? []);
	if (named.length > 0) return named;
	return [...vocabulary.tokens.keys()]
		.slice(specialCount)
		.sort((a, b) => (vocabulary.tokens[b]?.count ?? 0) - (vocabulary.tokens[a]?.count ?? 0))
		.slice(0, 2);
}
