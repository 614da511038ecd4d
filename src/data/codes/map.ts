import type { IcdSystem } from "./icd.js";

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
