import type { RecordKind, Sex } from "../rows.js";
import { sexes } from "../sexes.js";

/** The meaning of a code of a MEDS dataset. */
export type MedsCode =
	| {
			readonly is: "record";
			readonly system: string;
			readonly code: string;
			readonly kind: RecordKind;
	  }
	| { readonly is: "birth" }
	| { readonly is: "death" }
	| { readonly is: "sex"; readonly sex: Sex | null };

interface Vocabulary {
	readonly pattern: RegExp;
	readonly system: string;
	readonly kind: RecordKind;
}

/** Extractions write the vocabulary before the code, often with the table in front, separated by / or //. */
const vocabulary = (table: string, name: string): RegExp =>
	new RegExp(`^${table}${name}//?([^/]+)$`, "i");

const condition = "(?:(?:DIAGNOS[IE]S|CONDITION|PROBLEM)S?//?)?";
const procedure = "PROCEDURES?//?";
const drug = "(?:(?:MEDICATION|DRUG|PRESCRIPTION)S?//?(?:START//?)?)?";
const test = "(?:(?:LAB|MEASUREMENT|OBSERVATION)S?//?)?";
const icd9 = "ICD(?://?|[-_ ])?9(?:[-_ ]?CM)?";
const icd10 = "ICD(?://?|[-_ ])?10(?:[-_ ]?CM)?";

/** The first match counts. A code without a match keeps its whole text as a code of MEDS. */
const vocabularies: readonly Vocabulary[] = [
	{ pattern: vocabulary(condition, icd9), system: "ICD9CM", kind: "diagnosis" },
	{ pattern: vocabulary(condition, icd10), system: "ICD10CM", kind: "diagnosis" },
	{ pattern: vocabulary(procedure, icd9), system: "ICD9Proc", kind: "procedure" },
	{ pattern: vocabulary(procedure, icd10), system: "ICD10PCS", kind: "procedure" },
	{
		pattern: vocabulary(`(?:${procedure})?`, "ICD[-_]?9[-_]?(?:Proc|PCS)"),
		system: "ICD9Proc",
		kind: "procedure",
	},
	{
		pattern: vocabulary(`(?:${procedure})?`, "ICD[-_]?10[-_]?PCS"),
		system: "ICD10PCS",
		kind: "procedure",
	},
	{ pattern: vocabulary(procedure, "SNOMED(?:[-_ ]?CT)?"), system: "SNOMED", kind: "procedure" },
	{ pattern: vocabulary(condition, "SNOMED(?:[-_ ]?CT)?"), system: "SNOMED", kind: "diagnosis" },
	{ pattern: vocabulary(drug, "RxNorm"), system: "RxNorm", kind: "drug" },
	{ pattern: vocabulary(drug, "RxNorm Extension"), system: "RxNorm Extension", kind: "drug" },
	{ pattern: vocabulary(drug, "NDC"), system: "NDC", kind: "drug" },
	{ pattern: vocabulary(drug, "ATC"), system: "ATC", kind: "drug" },
	{ pattern: vocabulary(test, "LOINC"), system: "LOINC", kind: "laboratory" },
	// Names may contain a /; UNK means that there is no name.
	{ pattern: /^MEDICATION\/\/START\/\/(?!UNK$)((?:\/?[^/])+)$/s, system: "Name", kind: "drug" },
	{
		pattern: /^MEDICATION\/\/(?!(?:START|STOP|UNK)\/\/)((?:\/?[^/])+)\/\/Administered$/s,
		system: "Name",
		kind: "drug",
	},
];

const birth = /^MEDS_BIRTH(?:\/\/.*)?$/s;
const death = /^MEDS_DEATH(?:\/\/.*)?$/s;
const sex = /^(?:\w+_)?(?:GENDER|SEX)\/\/?([^/]+)$/i;

export function medsCode(text: string): MedsCode {
	if (birth.test(text)) return { is: "birth" };
	if (death.test(text)) return { is: "death" };
	const word = sex.exec(text)?.[1];
	if (word) return { is: "sex", sex: sexes.get(word.trim().toLowerCase()) ?? null };
	for (const { pattern, system, kind } of vocabularies) {
		const code = pattern.exec(text)?.[1]?.trim();
		if (code) return { is: "record", system, code, kind };
	}
	return { is: "record", system: "MEDS", code: text, kind: kindOfOwnCode(text) };
}

/** The kind of a code of the dataset's own, by how it begins: `LAB//50868//mEq/L`. */
function kindOfOwnCode(text: string): RecordKind {
	if (/^LABS?\/\//i.test(text)) return "laboratory";
	return /^PROCEDURES?\/\//i.test(text) ? "procedure" : "other";
}
