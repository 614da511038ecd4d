import { type IcdSystem, normaliseIcd } from "../../codes/index.js";
import { integerPheCode, normalisePheCode } from "../../codes/map.js";
import { systemNamed } from "../../records/systems.js";
import type { Served } from "./served.js";

type Book = Pick<Served, "vocabulary" | "manifest" | "map">;

const isIcd = (system: string): system is IcdSystem => system === "ICD9CM" || system === "ICD10CM";

/**
 * The tokens that a recorded code stands for, as `prepare` would have it: an ICD code those of its
 * PheCodes where the dataset was mapped, any other code itself. None where the model does not know it.
 */
export function eventTokens(
	code: string,
	given: string | undefined,
	book: Book,
): readonly number[] {
	if (given !== undefined) return tokensIn(code, systemNamed(given) ?? given, book);
	const own = book.vocabulary.find(code);
	if (own !== undefined) return [own];
	// A letter begins ICD-10-CM codes, and few others.
	for (const system of ["ICD10CM", "ICD9CM", "PheCode"]) {
		const tokens = tokensIn(code, system, book);
		if (tokens.length > 0) return tokens;
	}
	return [];
}

function tokensIn(code: string, system: string, { vocabulary, manifest, map }: Book) {
	const found = (...tokens: readonly (number | undefined)[]) =>
		tokens.filter((token) => token !== undefined);
	if (system === "PheCode") {
		const normal = normalisePheCode(code) ?? code;
		const level = manifest.codes.level === "integer" ? integerPheCode(normal) : normal;
		return found(vocabulary.find(code, system) ?? vocabulary.find(level, system));
	}
	if (!isIcd(system)) return found(vocabulary.find(code, system));
	const normal = normaliseIcd(system, code) ?? code;
	const phecodes = manifest.codes.map === null ? [] : (map?.phecodesOf(system, normal) ?? []);
	if (phecodes.length > 0)
		return found(...phecodes.map((phecode) => vocabulary.find(phecode, "PheCode")));
	return found(vocabulary.find(normal, system));
}
