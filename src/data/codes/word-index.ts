/** Words that names and queries are compared without. */
const stopWords: ReadonlySet<string> = /* @__PURE__ */ new Set(
	"and by due for in of on or the to with".split(" "),
);

const isAscii = /^[ -~]*$/;

/** The words of a text, without case, accents and possessives, in American spelling. */
export function wordsOf(text: string): string[] {
	const plain = isAscii.test(text) ? text : text.normalize("NFD").replace(/\p{M}+/gu, "");
	const found = plain
		.toLowerCase()
		.replace(/['’](s\b)?/g, "")
		.match(plain === text ? /[a-z0-9]+/g : /[\p{L}\p{N}]+/gu);
	const words = (found ?? []).map((word) => (word.length < 5 ? word : word.replace(/ae|oe/g, "e")));
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

/** A text that has all words of a query. */
export interface FoundText {
	readonly text: number;
	/** How the worst of the words is found: as a word (0), as the beginning (1) or part (2) of one, or misspelt (3). */
	readonly match: number;
}

const absent = 255;

/** An index of texts, each given by its words: finds those with all words of a query. */
export function wordIndex(
	texts: readonly (readonly string[])[],
): (words: readonly string[]) => readonly FoundText[] {
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

	return (words) => {
		const all = new Uint8Array(texts.length).fill(words.length > 0 ? 0 : absent);
		for (const word of new Set(words)) {
			const own = matchesOf(word);
			for (let text = 0; text < all.length; text++)
				if ((own[text] as number) > (all[text] as number)) all[text] = own[text] as number;
		}
		const found: { text: number; match: number }[] = [];
		for (let text = 0; text < all.length; text++)
			if (all[text] !== absent) found.push({ text, match: all[text] as number });
		return found;
	};
}
