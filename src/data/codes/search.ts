import { listUnder } from "../../base/arrays.js";
import { builtInMap } from "./built-in.js";
import {
	type CodeMap,
	type IcdSystem,
	icdNames,
	integerPheCode,
	isAtOrBelow,
	normaliseIcd,
	normalisePheCode,
} from "./map.js";
import synonyms from "./synonyms.json" with { type: "json" };

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
type MatchKind = (typeof matchKinds)[number];

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
		if (nameKeys[at]) listUnder(byName, nameKeys[at], at);
		listUnder(byCategory, codeAt(at).category ?? "", at);
	}
	const meanings = synonyms.map(({ phecodes, terms }) => {
		const meaningTerms = terms.map((term) => {
			const words = wordsOf(term);
			return { term, words, key: wordKey(words) };
		});
		const isNamed = (at: number) => meaningTerms.some(({ key }) => key === nameKeys[at]);
		/** By the order of the PheCodes, those first whose names are one of the terms. */
		const places = phecodes.flatMap((phecode) => {
			const matches = [...byNumber.ofInteger(phecode)].sort(byCount);
			return [...matches.filter(isNamed), ...matches.filter((at) => !isNamed(at))];
		});
		return { terms: meaningTerms, places };
	});
	const terms = meanings.flatMap((meaning) => meaning.terms.map((term) => ({ ...term, meaning })));
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
			const place = places[text];
			const term = terms[text - places.length];
			const [, ofCategory = []] = categories[text - places.length - terms.length] ?? [];
			const kind = kindOfWords + match;
			if (place !== undefined) add(place, kind, 0);
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
			const wordRanking = ranking(codes.length);
			addWords([word], wordRanking);
			return wordRanking;
		});
		for (const at of byWord[0]?.places() ?? []) {
			const kind = Math.max(...byWord.map(({ kindAt }) => kindAt(at)));
			const via = byWord.map(({ viaAt }) => viaAt(at)).find((synonym) => synonym !== undefined);
			if (kind < matchKinds.length) add(at, kind, 0, via);
		}
	};

	return (query) => {
		const text = query.slice(0, longestQuery).trim();
		if (text === "") return sorted.map((at) => ({ at, match: "all" }));
		const allWords = wordsOf(text);
		const key = wordKey(allWords);
		const words = [...new Set(allWords)].slice(0, mostWords);
		const matches = ranking(codes.length);
		let order = 0;
		for (const { at, via } of byNumber.find(text)) matches.add(at, kindOf("code"), order++, via);
		for (const at of byName.get(key) ?? []) matches.add(at, kindOf("name"), 0);
		for (const { term, meaning } of terms.filter((term) => term.key === key)) {
			for (const at of meaning.places) matches.add(at, kindOf("synonym"), order++, term);
			for (const at of namedByMeaning(meaning)) matches.add(at, kindOfWords, 10, term);
		}
		addWords(words, matches);
		if (words.length <= mostApart && matches.places().length === 0) addApart(words, matches);
		return matches
			.places()
			.sort((a, b) => matches.rankAt(a) - matches.rankAt(b) || byCount(a, b))
			.map((at) => {
				const via = matches.viaAt(at);
				const match = matchKinds[matches.kindAt(at)] as MatchKind;
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

/** A code, and what led to it if its own number does not. */
interface NumberedCode {
	readonly at: number;
	readonly via?: string;
}

const icdSystems = ["ICD10CM", "ICD9CM"] as const satisfies readonly IcdSystem[];
const isIcd = (system: string | null): system is IcdSystem =>
	icdSystems.some((known) => known === system);

/** The ten codes right below an ICD code, which may be mapped where it is not itself. */
const childrenOf = (icd: string): readonly string[] =>
	[..."0123456789"].map((digit) => (icd.includes(".") ? icd + digit : `${icd}.${digit}`));

/** Looks up codes by number: as PheCodes, ICD codes or SNOMED CT concepts, through the map where they are others. */
function codesByNumber(
	codes: readonly { readonly code: string; readonly system: string | null }[],
	map: Pick<CodeMap, "phecodesOf" | "phecodesOfSnomed">,
) {
	const is = (at: number, system: string, code?: string) =>
		codes[at]?.system === system && (code === undefined || codes[at]?.code === code);
	const phecodesAt = codes.map(({ system, code }) =>
		system === "PheCode" ? [code] : isIcd(system) ? map.phecodesOf(system, code) : [],
	);
	const byCode = new Map<string, number[]>();
	const byPheCode = new Map<string, number[]>();
	for (const [at, { code, system }] of codes.entries()) {
		if (system !== null) listUnder(byCode, code.toLowerCase(), at);
		for (const phecode of new Set(phecodesAt[at]?.map(integerPheCode)))
			listUnder(byPheCode, phecode, at);
	}

	/** The codes at or below a PheCode or, at integer level, those of its integer. */
	const ofPheCode = (phecode: string): readonly number[] => {
		const integer = integerPheCode(phecode);
		const matches = byPheCode.get(integer) ?? [];
		const below = matches.filter((at) =>
			phecodesAt[at]?.some((code) => isAtOrBelow(code, phecode, "PheCode")),
		);
		return below.length > 0 ? below : matches.filter((at) => phecodesAt[at]?.includes(integer));
	};

	const phecodesOfIcd = (system: IcdSystem, icd: string): readonly string[] => {
		const phecodes = map.phecodesOf(system, icd);
		if (phecodes.length > 0) return phecodes;
		return childrenOf(icd).flatMap((code) => map.phecodesOf(system, code));
	};

	/** The code of this number, those below it, then those that it is mapped to. */
	function* find(text: string): Generator<NumberedCode> {
		for (const at of byCode.get(text.toLowerCase()) ?? []) yield { at };
		if (!/\d/.test(text)) return;
		const phecode = normalisePheCode(text);
		const below = phecode === undefined ? [] : ofPheCode(phecode);
		for (const at of below.filter((place) => is(place, "PheCode", phecode))) yield { at };
		for (const at of below.filter((place) => is(place, "PheCode"))) yield { at };
		const icds = icdSystems.flatMap((system) => {
			const icd = normaliseIcd(system, text);
			if (icd === undefined) return [];
			const below = [...codes.keys()].filter(
				(at) => is(at, system) && isAtOrBelow(codes[at]?.code ?? "", icd, system),
			);
			return [{ system, icd, below }];
		});
		for (const at of icds.flatMap(({ below }) => below)) yield { at };
		for (const at of below) yield { at, via: `PheCode ${phecode}` };
		for (const { system, icd, below } of icds)
			if (below.length === 0)
				for (const at of phecodesOfIcd(system, icd).flatMap(ofPheCode))
					yield { at, via: `${icdNames[system]} ${icd}` };
		for (const at of map.phecodesOfSnomed?.(text)?.flatMap(ofPheCode) ?? [])
			yield { at, via: `SNOMED ${text}` };
	}
	return {
		find,
		/** The codes of a PheCode at integer level. */
		ofInteger: (phecode: string): readonly number[] => byPheCode.get(phecode) ?? [],
		hasPheCode: (at: number) => (phecodesAt[at]?.length ?? 0) > 0,
	};
}

/** Words that names and queries are compared without. */
const stopWords: ReadonlySet<string> = /* @__PURE__ */ new Set(
	"and by due for in of on or the to with".split(" "),
);

const isAscii = /^[ -~]*$/;

/** The words of a text, without case, accents and possessives, in American spelling. */
export function wordsOf(text: string): string[] {
	const plain = isAscii.test(text) ? text : text.normalize("NFD").replace(/\p{M}+/gu, "");
	const matches = plain
		.toLowerCase()
		.replace(/['’](s\b)?/g, "")
		.match(plain === text ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu);
	const words = (matches ?? []).map((word) =>
		word.length < 5 ? word : word.replace(/ae|oe/g, "e"),
	);
	const meaningful = words.filter((word) => !stopWords.has(word));
	return meaningful.length > 0 ? meaningful : words;
}

/** A word without the ending of its plural. */
function singular(word: string): string {
	if (word.length < 4 || !word.endsWith("s") || /(ss|us|is)$/.test(word)) return word;
	return word.endsWith("ies") && word.length > 4 ? `${word.slice(0, -3)}y` : word.slice(0, -1);
}

/** The same for texts with the same words, in any order. */
export const wordKey = (words: readonly string[]): string => words.map(singular).sort().join(" ");

const shortestPart = 4;
const shortestMisspelt = 5;

/** Whether one letter is missing, added or another, or two neighbours are exchanged. */
function isOneEditApart(a: string, b: string): boolean {
	const [long, short] = a.length >= b.length ? [a, b] : [b, a];
	if (long.length - short.length > 1) return false;
	let at = 0;
	while (at < short.length && long[at] === short[at]) at++;
	const rest = long.slice(at + 1);
	if (long.length > short.length) return rest === short.slice(at);
	const exchanged = long[at] === short[at + 1] && long[at + 1] === short[at];
	return rest === short.slice(at + 1) || (exchanged && rest.slice(1) === short.slice(at + 2));
}

const absent = 255;

/**
 * An index of texts, each given by its words: finds those with all words of a query, and how the worst of the words is
 * found: as a word (0), as the beginning (1) or part (2) of one, or misspelt (3).
 */
function wordIndex(texts: readonly (readonly string[])[]) {
	const entryOf = new Map<string, { word: string; one: string; of: number[] }>();
	for (const [text, words] of texts.entries())
		for (const word of words) {
			const entry = entryOf.get(word);
			if (!entry) entryOf.set(word, { word, one: singular(word), of: [text] });
			else if (entry.of.at(-1) !== text) entry.of.push(text);
		}
	const entries = [...entryOf.values()];

	/** How a word is found in each text. */
	const matchesOf = (word: string): Uint8Array => {
		const one = singular(word);
		const matches = new Uint8Array(texts.length).fill(absent);
		let isKnown = false;
		const add = (of: readonly number[], match: number) => {
			isKnown = true;
			for (const text of of) if (match < (matches[text] as number)) matches[text] = match;
		};
		for (const entry of entries)
			if (entry.one === one) add(entry.of, 0);
			else if (entry.word.startsWith(word)) add(entry.of, 1);
			else if (word.length >= shortestPart && entry.word.includes(word)) add(entry.of, 2);
		if (isKnown || word.length < shortestMisspelt || /\p{N}/u.test(word)) return matches;
		for (const entry of entries) if (isOneEditApart(word, entry.word)) add(entry.of, 3);
		return matches;
	};

	return (words: readonly string[]) => {
		const all = new Uint8Array(texts.length).fill(words.length > 0 ? 0 : absent);
		for (const word of new Set(words)) {
			const wordMatches = matchesOf(word);
			for (let text = 0; text < all.length; text++)
				if ((wordMatches[text] as number) > (all[text] as number))
					all[text] = wordMatches[text] as number;
		}
		const fitting: { text: number; match: number }[] = [];
		for (let text = 0; text < all.length; text++)
			if (all[text] !== absent) fitting.push({ text, match: all[text] as number });
		return fitting;
	};
}
