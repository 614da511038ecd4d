import { specialCount } from "../cohort/vocabulary.js";

/**
 * The number of codes ranked before this one by descending score, without special tokens. Ties are in the order of
 * the vocabulary: the code that is more frequent in training comes first.
 */
export function rankOf(scores: ArrayLike<number>, token: number): number {
	const own = scores[token] as number;
	let before = 0;
	for (let code = specialCount; code < scores.length; code++) {
		const score = scores[code] as number;
		if (score > own || (score === own && code < token)) before++;
	}
	return before;
}
