import { type IcdSystem, normaliseIcd } from "../../codes/icd.js";
import type { CodeMap } from "../../codes/map.js";
import type { RecordKind } from "../../records/rows.js";

/** How a dataset takes codes. */
export interface CodeRules {
	/** To PheCodes, or not at all. */
	readonly codes: "phecode" | "as-is";
	/** Where it is not at hand, no ICD code is in it. */
	readonly map: Pick<CodeMap, "phecodesOf"> | undefined;
	/** What happens to ICD codes that the map does not know. */
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
	/** Those of an ICD diagnosis, whether or not they become tokens. */
	readonly phecodes: readonly string[];
	readonly outcome: "as it is" | "mapped" | "not in the map" | "a drug that is no token";
	/** What may become tokens, in the order in which they do. */
	readonly concepts: readonly { readonly system: string; readonly code: string }[];
	/** At one time diagnoses come first: one never has the drug it led to in its past. */
	readonly rank: 0 | 1;
}

const isIcd = (system: string): system is IcdSystem => system === "ICD9CM" || system === "ICD10CM";

export function conceptsOf(
	{ system, code: written, kind }: WrittenCode,
	rules: CodeRules,
): CodeConcepts {
	const icd = kind === "diagnosis" && isIcd(system) ? system : undefined;
	const code = (icd && normaliseIcd(icd, written)) ?? written;
	const phecodes = (icd && rules.map?.phecodesOf(icd, code)) ?? [];
	const own = { code, phecodes, rank: kind === "diagnosis" ? 0 : 1 } as const;
	if (kind === "drug" && rules.drugs !== "tokens")
		return { ...own, outcome: "a drug that is no token", concepts: [] };
	if (!icd || rules.codes === "as-is")
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
