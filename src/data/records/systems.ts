import { type RecordKind, recordKinds } from "./rows.js";
import data from "./systems.json" with { type: "json" };

/**
 * Known classifications with the default kind of their records and their names; the identifiers are those of OMOP
 * vocabularies. `MEDS` has the unchanged codes of a MEDS dataset without a classification, `Name` drugs without a code.
 */
const systems: Readonly<
	Record<string, { readonly kind: string; readonly names: readonly string[] }>
> = data;

/** All names of systems, in lower case. */
export const systemAliases: ReadonlyMap<string, string> = new Map(
	Object.entries(systems).flatMap(([system, { names }]) =>
		[system.toLowerCase(), ...names].map((name) => [name, system] as const),
	),
);

export const knownSystems: readonly string[] = Object.keys(systems);

/** The name for ICD-9-CM and ICD-10-CM codes that are told apart by their form. */
export const eitherIcd = "icd";

/** What to do about an unknown system of a table. */
export const systemRemedy = `known are ${knownSystems.join(", ")}, and ${eitherIcd} for ICD-9-CM or ICD-10-CM by the form of the code; pass \`allowSystems\` NAME to keep the codes of another one as they are`;

/**
 * The form of ICD-9-CM codes in capitals: 428.0, V58.67, E888.9. Diagnoses of ICD-10-CM that begin with V have more
 * characters (V58.6XXA). Without a dot, E8889 is E88.89 of ICD-10-CM, which is far more frequent.
 */
export const icd9Form =
	"[0-9]{3}([.]?[0-9]{1,2})?|V[0-9]{2}([.]?[0-9]{1,2})?|E[0-9]{3}[.][0-9]|E9[0-9]{2,3}";

const icd9Code = new RegExp(`^(${icd9Form})$`);

/** ICD-9-CM or ICD-10-CM by the form of a code. */
export const icdByForm = (code: string): string =>
	icd9Code.test(code.toUpperCase()) ? "ICD9CM" : "ICD10CM";

/** The system of a name or FHIR address, ignoring case. */
export function systemNamed(name: string): string | undefined {
	return systemAliases.get(name.trim().toLowerCase().replace(/\/$/, ""));
}

/** The system implied by the name of a column, such as icd9_code. */
export function impliedSystem(column: string): string | undefined {
	const bare = column.trim().toLowerCase();
	if (bare === "rxcui") return "RxNorm";
	const known = (name: string) =>
		/[a-z]/.test(name) && name !== "name" ? systemNamed(name) : undefined;
	// Claims have columns such as ICD9_DGNS_CD_1, ADMTNG_ICD9_DGNS_CD and ICD9_PRCDR_CD_1.
	const stem = bare.replace(/[_ ]?\d+$/, "").replace(/[_ ]?(codes?|cd)$/, "");
	const claim = stem
		.replace(/^(admtng|prncpal)_/, "")
		.replace(/_(dgns|dx|diag|diagnosis)$/, "")
		.replace(/^icd(9|10)_(prcdr|proc|procedure)$/, (_, version) =>
			version === "9" ? "icd9proc" : "icd10pcs",
		);
	return known(bare) ?? known(bare.replace(/[_ ]?(codes?|cd)$/, "")) ?? known(claim);
}

/** The default kind of the records of a system. */
export const kindOf = (system: string): RecordKind =>
	recordKinds.find((kind) => kind === systems[system]?.kind) ?? "other";
