import { type CodeMap, type IcdSystem, normaliseIcd } from "../../codes/map.js";
import type { RecordKind } from "../../records/rows.js";

/** How a dataset maps codes. */
export interface CodeRules {
	/** Maps diagnoses to PheCodes, or leaves their codes as they are. */
	readonly codes: "phecode" | "as-is";
	/** Without a map, no ICD code is known. */
	readonly map: Pick<CodeMap, "phecodesOf" | "phecodesOfSnomed"> | undefined;
	/** What happens to ICD codes, and to SNOMED codes if the map has any, that it does not know. */
	readonly unmapped: "drop" | "keep";
	readonly drugs: "tokens" | "labels" | "none";
}

export interface WrittenCode {
	readonly system: string;
	readonly code: string;
	readonly kind: RecordKind;
}

/** The concepts that a recorded code stands for. */
export interface CodeConcepts {
	/** The code, an ICD code as its classification prints it. */
	readonly code: string;
	/** The PheCodes of a diagnosis, whether or not they become tokens. */
	readonly phecodes: readonly string[];
	readonly outcome: "as it is" | "mapped" | "not in the map" | "a drug that is no token";
	/** Candidates for tokens, in order. */
	readonly concepts: readonly { readonly system: string; readonly code: string }[];
	/** Diagnoses (0) precede other events at the same time, so a diagnosis never follows the drug it led to. */
	readonly rank: 0 | 1;
}

const isIcd = (system: string): system is IcdSystem => system === "ICD9CM" || system === "ICD10CM";

export function conceptsOf(
	{ system, code: written, kind }: WrittenCode,
	rules: CodeRules,
): CodeConcepts {
	const icd = kind === "diagnosis" && isIcd(system) ? system : undefined;
	const code = (icd && normaliseIcd(icd, written)) ?? written;
	const ofSnomed =
		kind === "diagnosis" && system === "SNOMED" ? rules.map?.phecodesOfSnomed : undefined;
	const phecodes = (icd ? rules.map?.phecodesOf(icd, code) : ofSnomed?.(code)) ?? [];
	const own = { code, phecodes, rank: kind === "diagnosis" ? 0 : 1 } as const;
	if (kind === "drug" && rules.drugs !== "tokens")
		return { ...own, outcome: "a drug that is no token", concepts: [] };
	if ((!icd && !ofSnomed) || rules.codes === "as-is")
		return { ...own, outcome: "as it is", concepts: [{ system, code }] };
	if (phecodes.length === 0)
		return {
			...own,
			outcome: "not in the map",
			concepts: rules.unmapped === "keep" ? [{ system, code }] : [],
		};
	return {
		...own,
		outcome: "mapped",
		concepts: phecodes.map((phecode) => ({ system: "PheCode", code: phecode })),
	};
}
