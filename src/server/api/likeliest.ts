import type { Token, Vocabulary } from "../../cohort/vocabulary.js";
import { likeliest } from "../../infer/index.js";
import type { Answers } from "../../models/index.js";

/** The most likely codes of one patient's question, in words. */
export const likeliestCodes = (
	answers: Answers,
	question: number,
	top: number,
	{ tokens }: Vocabulary,
) =>
	likeliest(answers, { top, question }).map(({ token, probability }) => {
		const { code, system, name, category } = tokens[token] as Token;
		return { code, system, name, category, probability };
	});
