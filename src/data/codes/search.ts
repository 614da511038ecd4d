import { builtInMap } from "./built-in.js";
import { codesByNumber, listIn, type NumberedCode } from "./codes-by-number.js";
import type { CodeMap } from "./map.js";
import synonyms from "./synonyms.json" with { type: "json" };
import { wordIndex, wordKey, wordsOf } from "./word-index.js";

/** A code to search among, such as a token of a vocabulary. */
export interface SearchableCode {
	readonly code: string;
	/** Codes without a system, which are special tokens, are never found. */
	readonly system: string | null;
	readonly name: string;
	readonly category: string | null;
	/** Records: of codes that match alike, the most frequent comes first. */
	readonly count: number;
}

/** What of a code matches, the best first; `all` if nothing is searched for. */
export const matchKinds = [
	"all",
	"code",
	"name",
	"synonym",
	"words",
	"prefix",
	"part",
	"spelling",
] as const;
export type MatchKind = (typeof matchKinds)[number];

/** The position of a code among those searched; `via` is a synonym or an ICD code that led to it. */
export interface CodeMatch extends NumberedCode {
	readonly match: MatchKind;
}

/** All codes that match a text, the best first. */
export type CodeSearch = (text: string) => readonly CodeMatch[];

/** Longer queries are cut: the work grows with their words. */
export const longestQuery = 200;
const mostWords = 8;
/** Most words of a query that are looked for apart, if no name or synonym has them all. */
const mostApart = 5;

/**
 * Makes a search for codes by code, name, synonym or abbreviation. ICD codes and synonyms are found through the map
 * where the codes are PheCodes, and PheCodes where they are ICD codes.
 *
 * @example
 * const search = codeSearch(vocabulary.tokens);
 * search("heart attack"); // [{ at: 17, match: "synonym", via: "heart attack" }, …]
 */
export function codeSearch(
	codes: readonly SearchableCode[],
	map: Pick<CodeMap, "phecodesOf" | "phecodesOfSnomed"> = builtInMap(),
): CodeSearch {
	const places = codes.flatMap(({ system }, at) => (system === null ? [] : [at]));
	const codeAt = (at: number) => codes[at] as SearchableCode;
	const byCount = (a: number, b: number) => codeAt(b).count - codeAt(a).count || a - b;
	const sorted = [...places].sort(byCount);
	const byNumber = codesByNumber(codes, map);
	const nameWords = codes.map(({ name }) => wordsOf(name));
	const nameKeys = nameWords.map(wordKey);
	const byName = new Map<string, number[]>();
	const byCategory = new Map<string, number[]>();
	for (const at of places) {
		if (nameKeys[at]) listIn(byName, nameKeys[at], at);
		listIn(byCategory, codeAt(at).category ?? "", at);
	}
	const meanings = synonyms.map(({ phecodes, terms }) => {
		const own = terms.map((term) => {
			const words = wordsOf(term);
			return { term, words, key: wordKey(words) };
		});
		const isNamed = (at: number) => own.some(({ key }) => key === nameKeys[at]);
		/** By the order of the PheCodes, those first whose names are one of the terms. */
		const places = phecodes.flatMap((phecode) => {
			const found = [...byNumber.ofInteger(phecode)].sort(byCount);
			return [...found.filter(isNamed), ...found.filter((at) => !isNamed(at))];
		});
		return { terms: own, places };
	});
	const terms = meanings.flatMap((meaning) => meaning.terms.map((own) => ({ ...own, meaning })));
	type Meaning = (typeof meanings)[number];

	// One index of all texts: names, then terms, then categories.
	const categories = [...byCategory];
	const textsWith = wordIndex([
		...places.map((at) => [...wordsOf(codeAt(at).code), ...(nameWords[at] as string[])]),
		...terms.map(({ words }) => words),
		...categories.map(([category]) => wordsOf(category)),
	]);

	/** Of the codes without a PheCode, those whose names have all words of a term of the meaning. */
	const withoutPheCode = new Set(places.filter((at) => !byNumber.hasPheCode(at)));
	const namedByMeaning = (meaning: Meaning): readonly number[] =>
		(withoutPheCode.size > 0 ? meaning.terms : [])
			.flatMap(({ words }) => textsWith(words))
			.flatMap(({ text, match }) => (match === 0 ? (places[text] ?? []) : []))
			.filter((at) => withoutPheCode.has(at));

	/** Adds the codes that have all words in their name or category, or in one of their synonyms. */
	const addWords = (words: readonly string[], { add }: Ranking) => {
		for (const { text, match } of textsWith(words)) {
			const own = places[text];
			const term = terms[text - places.length];
			const [, ofCategory = []] = categories[text - places.length - terms.length] ?? [];
			const kind = kindOfWords + match;
			if (own !== undefined) add(own, kind, 0);
			else if (term) {
				const order = 10 + 10 * Math.max(0, term.words.length - words.length);
				for (const [place, at] of term.meaning.places.entries())
					add(at, kind, order + Math.min(place, 9), term.term);
			} else for (const at of ofCategory) add(at, kind, 1000);
		}
	};

	/** Adds the codes that have each word somewhere: in their name or category, or in any of their synonyms. */
	const addApart = (words: readonly string[], { add }: Ranking) => {
		const byWord = words.map((word) => {
			const own = ranking(codes.length);
			addWords([word], own);
			return own;
		});
		for (const at of byWord[0]?.places() ?? []) {
			const kind = Math.max(...byWord.map(({ kindAt }) => kindAt(at)));
			const via = byWord.map(({ viaAt }) => viaAt(at)).find((own) => own !== undefined);
			if (kind < matchKinds.length) add(at, kind, 0, via);
		}
	};

	return (given) => {
		const text = given.slice(0, longestQuery).trim();
		if (text === "") return sorted.map((at) => ({ at, match: "all" }));
		const allWords = wordsOf(text);
		const key = wordKey(allWords);
		const words = [...new Set(allWords)].slice(0, mostWords);
		const found = ranking(codes.length);
		let order = 0;
		for (const { at, via } of byNumber.find(text)) found.add(at, kindOf("code"), order++, via);
		for (const at of byName.get(key) ?? []) found.add(at, kindOf("name"), 0);
		for (const { term, meaning } of terms.filter((own) => own.key === key)) {
			for (const at of meaning.places) found.add(at, kindOf("synonym"), order++, term);
			for (const at of namedByMeaning(meaning)) found.add(at, kindOfWords, 10, term);
		}
		addWords(words, found);
		if (words.length <= mostApart && found.places().length === 0) addApart(words, found);
		return found
			.places()
			.sort((a, b) => found.rankAt(a) - found.rankAt(b) || byCount(a, b))
			.map((at) => {
				const via = found.viaAt(at);
				const match = matchKinds[found.kindAt(at)] as MatchKind;
				return { at, match, ...(via !== undefined && { via }) };
			});
	};
}

const kindOf = (kind: MatchKind) => matchKinds.indexOf(kind);
/** The kinds from here on are those of the word index. */
const kindOfWords = 4; // "words"
/** More than a kind has places in order. */
const mostOrders = 2 ** 32;

/** The best match of each code: a kind, and an order within the kind. */
function ranking(codes: number) {
	const ranks = new Float64Array(codes).fill(Number.POSITIVE_INFINITY);
	const vias = new Map<number, string>();
	return {
		add(at: number, kind: number, order: number, via?: string): void {
			const rank = kind * mostOrders + order;
			if (rank >= (ranks[at] as number)) return;
			ranks[at] = rank;
			if (via === undefined) vias.delete(at);
			else vias.set(at, via);
		},
		places: () => [...ranks.keys()].filter((at) => ranks[at] !== Number.POSITIVE_INFINITY),
		rankAt: (at: number) => ranks[at] as number,
		kindAt: (at: number) => Math.floor((ranks[at] as number) / mostOrders),
		viaAt: (at: number) => vias.get(at),
	};
}
type Ranking = ReturnType<typeof ranking>;
