import { specialCount } from "../cohort/vocabulary.js";

/**
 * How many codes come before this one by falling score; special tokens take no part. Of equal scores
 * the one more frequent in training comes first: that is the order of the vocabulary.
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
