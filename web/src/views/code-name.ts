import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";

/** The name of a code, or the code itself if it has none. */
export const codeName = ({ tokens }: Vocabulary, token: number): string =>
	tokens[token]?.name || tokens[token]?.code || "";
