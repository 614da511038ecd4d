import {
	type CodeMap,
	type IcdSystem,
	icdNames,
	integerPheCode,
	isAtOrBelow,
	normaliseIcd,
	normalisePheCode,
} from "../../data/codes/map.js";
import { type CodeMatch, type CodeSearch, codeSearch } from "../../data/codes/search.js";
import type { Manifest } from "../../data/cohort/index.js";
import {
	codeKey,
	specialCount,
	type Token,
	type Vocabulary,
} from "../../data/cohort/vocabulary.js";
import { systemNamed } from "../../data/records/systems.js";
import { UnusableInputError } from "./moments.js";

/** A code as a user names it: itself, and all codes of the vocabulary below it. */
export interface FoundCode {
	/** As the vocabulary writes it, or as given if it stands for several. */
	readonly code: string;
	readonly name: string;
	readonly tokens: readonly number[];
	/** How it was interpreted, if that is not obvious. */
	readonly note?: string;
}

/** What codes are looked up in. */
export interface CodeBook {
	readonly vocabulary: Vocabulary;
	readonly manifest: {
		readonly codes: Pick<Manifest["codes"], "map">;
		readonly filters: Pick<Manifest["filters"], "minCount">;
	};
	readonly map: CodeMap | undefined;
	/** Named groups of codes that can be found by their names too. */
	readonly groups?: readonly { readonly name: string; readonly tokens: readonly number[] }[];
}

const isIcd = (system: string): system is IcdSystem => system === "ICD9CM" || system === "ICD10CM";

/**
 * Finds a named group, a PheCode, a code of any system of the vocabulary, an ICD code that maps to a PheCode, or the one
 * code of a name, a synonym or an abbreviation.
 */
export function findCode(given: string, book: CodeBook): FoundCode {
	const group = book.groups?.find(({ name }) => name.toLowerCase() === given.trim().toLowerCase());
	if (group) return foundGroup(group);
	const { system, code } = withSystem(given.trim());
	const direct = ownTokens(code, system, book);
	if (direct.length > 0)
		return foundCode(given, direct, book, direct.length > 1 ? "all codes below it too" : "");
	const mapped = system === "PheCode" ? undefined : mappedTokens(code, system, book);
	if (mapped?.tokens.length)
		return foundCode(given, mapped.tokens, book, `an ${icdNames[mapped.system]} code, so`);
	const phecode = system && system !== "PheCode" ? undefined : normalisePheCode(code);
	for (const general of phecode ? [phecode, integerPheCode(phecode)] : []) {
		const tokens = ownTokens(general, "PheCode", book);
		if (tokens.length > 0) return foundCode(given, tokens, book, "read as");
	}
	const [like, another] = mapped ? [] : groupsLike(given, book);
	if (like && !another) {
		const members = like.tokens.map((token) => book.vocabulary.tokens[token]);
		const note = `${given}: taken as the group ${like.name}, the first record of any of its codes: ${listed(members)}; name a code to ask about it alone`;
		return { ...foundGroup(like), note };
	}
	const meant = mapped || system ? [] : codesMeant(code, book);
	if (meant.length > 1) throw severalCodes(given, meant, book);
	const [only] = meant;
	if (only) return foundCode(given, [only.at], book, only.match === "name" ? "" : "taken as");
	throw unknownCode(given, mapped, book);
}

/** The codes of which a text is the whole name or, if there are none, a synonym. */
function codesMeant(text: string, book: CodeBook): readonly CodeMatch[] {
	const matches = searchCodes(text, book);
	const named = matches.filter(({ match }) => match === "name");
	return named.length > 0 ? named : matches.filter(({ match }) => match === "synonym");
}

function severalCodes(given: string, meant: readonly CodeMatch[], { vocabulary }: CodeBook) {
	const list = listed(meant.map(({ at }) => vocabulary.tokens[at]));
	const problem = `stands for ${meant.length} codes: ${list}; name one of them`;
	return new UnusableInputError(`"${given}" ${problem}`, problem);
}

const foundGroup = ({ name, tokens }: NonNullable<CodeBook["groups"]>[number]): FoundCode => ({
	code: name,
	name,
	tokens,
});

/** Groups whose name begins with a text of three letters or more. */
const groupsLike = (given: string, { groups = [] }: CodeBook) => {
	const text = given.trim().toLowerCase();
	return groups.filter(({ name }) => text.length > 2 && name.toLowerCase().startsWith(text));
};

/** `icd10:I50.9` names its system. */
function withSystem(given: string): { readonly system?: string; readonly code: string } {
	const [, name, code] = /^([^:]+):(.+)$/.exec(given) ?? [];
	const system = name && systemNamed(name);
	return system && code ? { system, code } : { code: given };
}

function ownTokens(code: string, system: string | undefined, { vocabulary }: CodeBook): number[] {
	const tokens = vocabulary.tokens.slice(specialCount);
	const systems = system ? [system] : [...new Set(tokens.map((token) => token.system as string))];
	for (const one of systems) {
		const above = (isIcd(one) && normaliseIcd(one, code)) || code;
		const matching = tokens.flatMap((token, at) =>
			token.system === one &&
			(isAtOrBelow(token.code, above, one) ||
				(token.value && isAtOrBelow(token.value.code, above, one)))
				? [specialCount + at]
				: [],
		);
		if (matching.length > 0) return matching;
	}
	return [];
}

/** By the map of the dataset: first as ICD-10-CM, whose codes begin with a letter, then as ICD-9-CM. */
function mappedTokens(code: string, system: string | undefined, book: CodeBook) {
	const { map, manifest } = book;
	if (map === undefined || manifest.codes.map === null) return undefined;
	const tried = (["ICD10CM", "ICD9CM"] as const)
		.filter((one) => system === undefined || system === one)
		.map((one) => {
			const phecodes = map.phecodesOf(one, code);
			const mappedTo = phecodes.flatMap((phecode) => ownTokens(phecode, "PheCode", book));
			const tokens = [...new Set(mappedTo)];
			return { system: one, phecodes, tokens };
		});
	return tried.find(({ tokens }) => tokens.length > 0) ?? tried.find((t) => t.phecodes.length > 0);
}

const named = ({ code, name }: { code: string; name: string }) =>
	name === code ? code : `${code} ${name}`;

const listed = (tokens: readonly Token[]) =>
	tokens.slice(0, 6).map(named).join(", ") + (tokens.length > 6 ? ", …" : "");

function foundCode(
	given: string,
	tokens: readonly number[],
	{ vocabulary, map }: CodeBook,
	how: string,
): FoundCode {
	const these = tokens.map((token) => vocabulary.tokens[token]);
	const [first] = these as [Token];
	const list = listed(these);
	const range = these.find(({ value }) => value)?.value;
	if (range && these.length > 1 && these.every((token) => codeKey(token) === codeKey(first))) {
		const { code, name } = range;
		return { code, name, tokens, note: `${given}: ${name}, any value` };
	}
	const name =
		these.length === 1
			? first.name
			: (map?.nameOf(given)?.name ?? `${these.length} codes: ${list}`);
	const code = these.length === 1 ? first.code : given;
	return { code, name, tokens, ...(how && { note: `${given}: ${how} ${list}` }) };
}

function unknownCode(
	given: string,
	mapped: ReturnType<typeof mappedTokens>,
	book: CodeBook,
): UnusableInputError {
	const tokens = book.vocabulary.tokens.slice(specialCount);
	if (mapped) {
		const [phecode = ""] = mapped.phecodes;
		const { name = "" } = book.map?.nameOf(phecode) ?? {};
		const why = `which the model does not know: fewer than ${book.manifest.filters.minCount} records of it were in the training data; choose one of its ${tokens.length} codes`;
		return new UnusableInputError(
			`${given} is PheCode ${phecode} ${name}, ${why}`,
			`is mapped to a PheCode ${why}`,
		);
	}
	const near = [
		...nearCodes(withSystem(given.trim()).code, book).map(named),
		...groupsLike(given, book).map(({ name }) => `the group ${name}`),
	];
	const hint = near.length > 0 ? `; near it are ${near.join(", ")}` : ", nor one near it";
	const listed = near.length > 0 ? "" : ` (\`trajgpt codes RUN\` lists them)`;
	const expected = `${hint}; expected one of its ${tokens.length} codes`;
	const orMapped = book.manifest.codes.map === null ? "" : ", or an ICD code that is mapped to one";
	const [needsMap, hasNoMap] =
		orMapped === "" || book.map
			? ["", ""]
			: [" (needs `phecodeMap` FILE)", " (here none is: the service was started without the map)"];
	return new UnusableInputError(
		`the model has no code "${given}"${expected}${listed}${orMapped}${needsMap}`,
		`is no code of the model${expected}${orMapped}${hasNoMap}`,
	);
}

/** The codes that a search finds or, if there are none, those that begin alike. */
function nearCodes(given: string, book: CodeBook): readonly Token[] {
	const { tokens } = book.vocabulary;
	const text = given.toLowerCase();
	const bySearch = searchCodes(given, book).map(({ at }) => tokens[at]);
	if (bySearch.length > 0 || text === "") return bySearch.slice(0, 5);
	return tokens
		.slice(specialCount)
		.map((token) => ({ token, alike: sharedStart(text, token.code.toLowerCase()) }))
		.filter(({ alike }) => alike >= Math.max(Math.min(2, text.length), text.length - 2))
		.sort((a, b) => b.alike - a.alike)
		.map(({ token }) => token)
		.slice(0, 5);
}

function sharedStart(a: string, b: string): number {
	let alike = 0;
	while (alike < a.length && a[alike] === b[alike]) alike++;
	return alike;
}

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
