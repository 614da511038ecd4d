import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";

/** The name of a code, or the code itself if it has none. */
export const codeName = ({ tokens }: Vocabulary, token: number): string =>
	tokens[token]?.name || tokens[token]?.code || "";

/** The colour of a code with a number; dark enough for text. */
export const curveColour = (number: number): string => `var(--curve-${(number % 8) + 1})`;
