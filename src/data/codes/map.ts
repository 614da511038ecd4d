export interface PheCode {
	readonly code: string;
	readonly name: string;
	readonly category: string | null;
}

/** The integer level drops the decimals: 250.2 is 250. */
export type PheCodeLevel = "integer" | "full";

export interface CodeMap {
	/** For a manifest: "built in (integer level)", or the path of the map's file. */
	readonly source: string;
	readonly level: PheCodeLevel;
	/** The PheCodes of a diagnosis code; empty if the map has none. */
	phecodesOf(system: IcdSystem, code: string): readonly string[];
	/** The PheCodes of a SNOMED CT concept; absent if the map has none at all. */
	readonly phecodesOfSnomed?: ((concept: string) => readonly string[]) | undefined;
	nameOf(phecode: string): PheCode | undefined;
}

/**
 * A PheCode in its printed form: three or four digits, and one or two decimals. Zeros that a spreadsheet removed or added
 * (8.5 for 008.5, 250.0 for 250) are unambiguous.
 */
export function normalisePheCode(text: string): string | undefined {
	const [, integer, decimals = ""] = /^(\d{1,4})(?:\.(\d*))?$/.exec(text.trim()) ?? [];
	const shown = decimals.replace(/0+$/, "");
	if (integer === undefined || shown.length > 2) return undefined;
	return integer.padStart(3, "0") + (shown && `.${shown}`);
}

export const integerPheCode = (phecode: string): string => phecode.split(".", 1)[0] as string;

const withDots: readonly string[] = ["PheCode", "ICD9CM", "ICD10CM"];

/** Whether a code is another one or lies below it: 250.2 below 250, and I50.21 below I50.2. */
export const isAtOrBelow = (code: string, above: string, system: string): boolean =>
	code === above ||
	(withDots.includes(system) && code.startsWith(above.includes(".") ? above : `${above}.`));

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
	const parts =
		system === "ICD9CM" ? icd9.exec(written) : icd10.exec(written.replace(marks, "").trimEnd());
	if (!parts) return undefined;
	const [, category = "", detail = ""] = parts;
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
