/** The two classifications of diagnoses that PheCodes are defined from. */
export type IcdSystem = "ICD9CM" | "ICD10CM";

export const icdNames: Readonly<Record<IcdSystem, string>> = {
	ICD9CM: "ICD-9-CM",
	ICD10CM: "ICD-10-CM",
};

/** Digits (428.0), V codes (V58.67) and E codes (E888.9); the dot may be missing. */
const icd9 = /^(\d{3}|V\d{2}|E\d{3})\.?(\d{0,2})$/;
/** A letter, a digit, a digit or letter; then up to four characters (S72.001A). */
const icd10 = /^([A-Z]\d[0-9A-Z])\.?([0-9A-Z]{0,4})$/;

/** Marks after an ICD-10 code: underlying disease (+, †), manifestation (*), additional code (!). */
const marks = /[+†*!]$/;

/**
 * The code in its printed form, with its dot: `4280` is 428.0, `v5867` is V58.67, `G63.2*` is G63.2. Undefined if the
 * text is not a code of that system. Nothing is guessed: `8.45`, which may be 008.45 without its leading zeros, is not
 * a code, and `845` is 845.
 */
export function normaliseIcd(system: IcdSystem, text: string): string | undefined {
	const written = text.trim().toUpperCase();
	const found =
		system === "ICD9CM" ? icd9.exec(written) : icd10.exec(written.replace(marks, "").trimEnd());
	if (!found) return undefined;
	const [, category = "", detail = ""] = found;
	if (category.startsWith("E") && category.length === 4 && detail.length > 1) return undefined;
	return detail ? `${category}.${detail}` : category;
}

/** The code, then each shorter code above it, down to its category: 250.02, 250.0, 250. */
export function* icdAndAncestors(code: string): Generator<string> {
	const category = code.split(".", 1)[0] as string;
	for (let length = code.length; length > category.length + 1; length--)
		yield code.slice(0, length);
	yield category;
}
