import type { CodeMap } from "../../data/codes/map.js";
import { type CodeMatch, type CodeSearch, codeSearch } from "../../data/codes/search.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";

interface SearchedCodes {
	readonly vocabulary: Vocabulary;
	/** The map of the dataset, if available; otherwise ICD codes are looked up in the built-in map. */
	readonly map?: CodeMap | undefined;
}

/** An index takes longer to make than to search, so one is kept per vocabulary. */
const searches = new WeakMap<Vocabulary, { map: CodeMap | undefined; search: CodeSearch }>();

/** The tokens that match a number, a name, a synonym or an abbreviation, the best first. */
export function searchCodes(
	text: string,
	{ vocabulary, map }: SearchedCodes,
): readonly CodeMatch[] {
	const known = searches.get(vocabulary);
	if (known && known.map === map) return known.search(text);
	const search = codeSearch(vocabulary.tokens, map);
	searches.set(vocabulary, { map, search });
	return search(text);
}
