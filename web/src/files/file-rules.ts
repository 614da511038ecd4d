import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { About } from "../data/about.js";
import type { Loaded } from "../data/use-loaded.js";

/** The rules for reading a file's records. */
export interface FileRules {
	readonly vocabulary: Vocabulary;
	readonly rules: ReadingRules;
}

/** The rules, once the server has sent all of them; nothing is guessed before. */
export function fileRules(about: Loaded<About>, vocabulary: Loaded<Vocabulary>): Loaded<FileRules> {
	if (about.state === "error") return about;
	if (vocabulary.state === "error") return vocabulary;
	if (about.state === "loading" || vocabulary.state === "loading") return { state: "loading" };
	return {
		state: "ready",
		value: { vocabulary: vocabulary.value, rules: about.value.records },
	};
}
