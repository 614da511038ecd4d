import { specialCount } from "../cohort/vocabulary.js";
import type { Answers } from "../models/index.js";

interface LikelyToken {
	readonly token: number;
	readonly probability: number;
}

/** The codes that are most likely at a patient's question, the first first; special tokens are never recorded. */
export function likeliest(
	{ questions, vocab, logProbabilities }: Answers,
	{ top, patient = 0, question = 0 }: LikeliestOptions,
): LikelyToken[] {
	const from = (patient * questions + question) * vocab;
	return Array.from(logProbabilities.subarray(from, from + vocab), (value, token) => ({
		token,
		probability: Math.exp(value),
	}))
		.slice(specialCount)
		.sort((a, b) => b.probability - a.probability)
		.slice(0, top);
}

interface LikeliestOptions {
	readonly top: number;
	readonly patient?: number;
	readonly question?: number;
}
