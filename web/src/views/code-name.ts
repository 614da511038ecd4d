import type { Vocabulary } from "../../../src/cohort/vocabulary.js";

/** What a code is called: its name, or itself where it has none. */
export const codeName = ({ tokens }: Vocabulary, token: number): string =>
	tokens[token]?.name || tokens[token]?.code || "";
