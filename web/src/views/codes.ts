import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";

/** The name of a code, or the code itself if it has none. */
export const codeName = ({ tokens }: Vocabulary, token: number): string =>
	tokens[token]?.name || tokens[token]?.code || "";

/** The colour of the curve with a number; dark enough for text. */
export const curveColour = (number: number): string => `var(--curve-${(number % 8) + 1})`;

/** The colour of a category on a map. */
export const categoryColour = (at: number): string => `var(--category-${(at % 9) + 1})`;

/** The colour of a level, from little to much; beyond the fifth, grey. */
export const levelColour = (at: number): string =>
	at < 5 ? `var(--level-${at + 1})` : "var(--neutral)";
