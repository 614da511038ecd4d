import { specialCount } from "../data/cohort/vocabulary.js";
import type { Predictions } from "../model/index.js";

export interface LikelyToken {
	readonly token: number;
	readonly probability: number;
}

/** The codes that are most likely at a patient's query, the first first; special tokens are never recorded. */
export function likeliest(
	{ queries, vocab, logProbabilities }: Predictions,
	{ top, patient = 0, query = 0 }: LikeliestOptions,
): LikelyToken[] {
	const from = (patient * queries + query) * vocab;
	const row = logProbabilities.subarray(from, from + vocab);
	return Array.from(highestCodes(row, top), (token) => ({
		token,
		probability: Math.exp(row[token]),
	}));
}

interface LikeliestOptions {
	readonly top: number;
	readonly patient?: number;
	readonly query?: number;
}

/**
 * The tokens of the highest values, the highest first and of equals the first token first. Special tokens
 * are left out. Only the best so far are kept in order: sorting all takes about ten times as long.
 */
export function highestCodes(values: ArrayLike<number>, count: number): Int32Array {
	const tokens = new Int32Array(Math.max(0, Math.min(count, values.length - specialCount)));
	let kept = 0;
	for (let token = specialCount; token < values.length; token++) {
		const value = values[token];
		if (kept === tokens.length && !(value > values[tokens[kept - 1]])) continue;
		let place = kept < tokens.length ? kept++ : kept - 1;
		for (; place > 0 && value > values[tokens[place - 1]]; place--)
			tokens[place] = tokens[place - 1];
		tokens[place] = token;
	}
	return tokens;
}
