import { specialCount, type Token, type Vocabulary } from "../../cohort/vocabulary.js";
import type { Answers } from "../../models/index.js";

/** The codes that are most likely at a patient's question, the first first; special tokens are never recorded. */
export function likeliest(
	{ questions, vocab, logProbabilities }: Answers,
	patient: number,
	question: number,
	top: number,
	vocabulary: Vocabulary,
) {
	const from = (patient * questions + question) * vocab;
	const own = logProbabilities.subarray(from, from + vocab);
	return [...own.keys()]
		.slice(specialCount)
		.sort((a, b) => (own[b] as number) - (own[a] as number))
		.slice(0, top)
		.map((token) => {
			const { code, system, name, category } = vocabulary.tokens[token] as Token;
			return { code, system, name, category, probability: Math.exp(own[token] as number) };
		});
}
