import type { RecordKind } from "./rows.js";

/** Known classifications with their names; the identifiers are those of OMOP vocabularies. */
const systems = {
	ICD9CM: [
		"icd9",
		"icd-9",
		"icd9cm",
		"icd-9-cm",
		"icd_9",
		"9",
		"http://hl7.org/fhir/sid/icd-9-cm",
		"http://mimic.mit.edu/fhir/mimic/codesystem/mimic-diagnosis-icd9",
		"urn:oid:2.16.840.1.113883.6.103",
	],
	ICD10CM: [
		"icd10",
		"icd-10",
		"icd10cm",
		"icd-10-cm",
		"icd_10",
		"10",
		"http://hl7.org/fhir/sid/icd-10-cm",
		"http://mimic.mit.edu/fhir/mimic/codesystem/mimic-diagnosis-icd10",
		"http://hl7.org/fhir/sid/icd-10",
		"urn:oid:2.16.840.1.113883.6.90",
	],
	ICD9Proc: ["icd9proc", "icd-9-pcs", "icd9pcs", "http://hl7.org/fhir/sid/icd-9-cm/procedures"],
	ICD10PCS: ["icd10pcs", "icd-10-pcs", "http://www.cms.gov/medicare/coding/icd10"],
	PheCode: ["phecode", "phecodes", "phecode 1.2"],
	SNOMED: [
		"snomed",
		"snomedct",
		"snomed-ct",
		"snomed ct",
		"http://snomed.info/sct",
		"urn:oid:2.16.840.1.113883.6.96",
	],
	RxNorm: [
		"rxnorm",
		"http://www.nlm.nih.gov/research/umls/rxnorm",
		"urn:oid:2.16.840.1.113883.6.88",
	],
	"RxNorm Extension": ["rxnorm extension"],
	NDC: ["ndc", "http://hl7.org/fhir/sid/ndc"],
	ATC: ["atc", "http://www.whocc.no/atc"],
	CPT4: ["cpt", "cpt4", "http://www.ama-assn.org/go/cpt"],
	HCPCS: ["hcpcs", "https://www.cms.gov/medicare/coding/hcpcsreleasecodesets"],
	LOINC: ["loinc", "http://loinc.org"],
	CVX: ["cvx", "http://hl7.org/fhir/sid/cvx"],
	/** Codes of a MEDS dataset without a classification, unchanged. */
	MEDS: ["meds"],
	OMOP: ["omop", "omop concept", "concept_id"],
	Name: ["name", "drug name"], // a drug with a name but no code
} as const satisfies Record<string, readonly string[]>;

/** All names of systems, in lower case. */
export const systemAliases: ReadonlyMap<string, string> = new Map(
	Object.entries(systems).flatMap(([system, aliases]) =>
		[system.toLowerCase(), ...aliases].map((alias) => [alias, system] as const),
	),
);

export const knownSystems: readonly string[] = Object.keys(systems);

/** The name for ICD-9-CM and ICD-10-CM codes that are told apart by their form. */
export const eitherIcd = "icd";

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

const systemsByKind: Readonly<Partial<Record<RecordKind, readonly string[]>>> = {
	diagnosis: ["ICD9CM", "ICD10CM", "PheCode", "SNOMED"],
	drug: ["RxNorm", "RxNorm Extension", "NDC", "ATC", "CVX", "Name"],
	procedure: ["ICD9Proc", "ICD10PCS", "CPT4", "HCPCS"],
	laboratory: ["LOINC"],
};

/** The default kind of the records of a system. */
export function kindOf(system: string): RecordKind {
	const kinds = Object.entries(systemsByKind) as [RecordKind, readonly string[]][];
	return kinds.find(([, systems]) => systems.includes(system))?.[0] ?? "other";
}
