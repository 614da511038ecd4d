import { InputError } from "../../base/errors.js";
import { named } from "../store.js";
import type { Column, Table } from "../table.js";

/** A column that was found, and how SQL calls it. */
export interface Found extends Column {
	readonly table: Table;
	readonly sql: string;
}

/** A table under the name that SQL gives it. */
export interface Aliased {
	readonly table: Table;
	readonly alias: string;
}

/** Names to look for: the first group with a match decides, two matches in one group are too many. */
export type Groups = readonly (readonly string[])[];

export const patientNames: Groups = [
	["patient", "patient_id", "patientid", "patient_num", "patient_key"],
	["subject_id", "subjectid", "subject", "person_id", "personid", "person"],
	["desynpuf_id", "bene_id", "enrolid", "member_id", "memberid", "mrn", "pid"],
	["id"],
];

const dateNames: Groups = [
	["date", "service_date", "diagnosis_date", "event_date", "claim_date", "condition_start_date"],
	["time", "datetime", "timestamp", "event_time", "charttime", "chartdate"],
	["admittime", "admit_date", "admission_date", "clm_from_dt", "svcdate", "from_date"],
	["startdate", "start_date", "starttime", "start", "start_datetime"],
	["prescription_date", "fill_date", "dispensing_date", "dispense_date", "order_date"],
];
const ageNames: Groups = [
	["age_days", "age_in_days", "agedays"],
	["age_years", "age_in_years"],
	["age", "days", "day"],
];
/** Where the time stands: by name a date, unless the times are said to be ages or days. */
export const timeNames = (numbers: boolean): Groups =>
	numbers ? [...ageNames, ...dateNames] : [...dateNames, ...ageNames];

export const codeNames: Groups = [
	[
		...["code", "icd", "icd_code", "diagnosis_code", "diag_code", "dx", "dx_code"],
		...["icd9", "icd9_code", "icd9cm", "icd9_cd", "icd10", "icd10_code", "icd10cm", "icd10_cd"],
		...["phecode", "snomed", "snomed_code", "condition_code", "concept_code"],
	],
	["atc", "atc_code", "ndc", "ndc_code", "rxnorm", "rxnorm_code", "rxcui", "drug_code"],
];
/** A prescription often carries several codes of one drug; the clearest is taken. */
export const drugCodeNames: Groups = [
	["atc", "atc_code"],
	["rxnorm", "rxnorm_code", "rxcui"],
	["ndc", "ndc_code"],
	["drug_code", "medication_code", "code"],
];
export const drugNameNames: Groups = [
	["drug", "drug_name", "medication", "medication_name"],
	["drug_name_generic", "generic_name"],
	["name", "description"],
];
export const systemNames: Groups = [
	["system", "code_system", "coding_system", "vocabulary_id", "vocabulary", "code_type"],
	["icd_version", "icd_ver", "dx_version"],
];
export const sexNames: Groups = [["sex"], ["gender", "gender_concept_id"]];
export const birthNames: Groups = [
	["birth", "birth_date", "birthdate", "date_of_birth", "dob"],
	["birth_datetime", "bene_birth_dt"],
];
export const deathNames: Groups = [
	["death", "death_date", "deathdate", "date_of_death", "dod"],
	["death_datetime", "deathtime", "bene_death_dt"],
];
export const splitColumnNames: Groups = [["split"], ["fold", "partition"]];

const same = (a: string, b: string) => a.trim().toLowerCase() === b.trim().toLowerCase();

const found = ({ table, alias }: Aliased, column: Column): Found => ({
	...column,
	table,
	sql: `${alias}.${named(column.name)}`,
});

export function listed(columns: readonly Column[]): string {
	const names = columns.slice(0, 40).map(({ name }) => name.slice(0, 60));
	return names.join(", ") + (columns.length > 40 ? `, … (${columns.length})` : "");
}

/** The column of that name, in the first table that has it. */
export function columnNamed(tables: readonly Aliased[], name: string): Found | undefined {
	for (const aliased of tables)
		for (const column of aliased.table.columns)
			if (same(column.name, name)) return found(aliased, column);
	return undefined;
}

/** The column of that name, which a user asked for. */
export function columnAsked(tables: readonly Aliased[], name: string, option: string): Found {
	const column = columnNamed(tables, name);
	if (column) return column;
	const has = tables.map(({ table }) => `${table.file} has ${listed(table.columns)}`);
	throw new InputError(`no column is named "${name}" (${option}); ${has.join("; ")}`);
}

/** The column that goes by one of the usual names. */
export function columnLikely(
	tables: readonly Aliased[],
	groups: Groups,
	option?: string,
): Found | undefined {
	for (const aliased of tables)
		for (const group of groups) {
			const matches = aliased.table.columns.filter(({ name }) =>
				group.some((known) => same(known, name)),
			);
			if (matches.length > 1)
				throw new InputError(
					`${aliased.table.file}: ambiguous columns ${matches.map(({ name }) => name).join(" and ")}; ${
						option ? `say which one to read with ${option}` : "rename or remove one of them"
					}`,
				);
			if (matches[0]) return found(aliased, matches[0]);
		}
	return undefined;
}

/** The error for a column that has to be there. */
export const missingColumn = (
	tables: readonly Aliased[],
	what: string,
	remedy: string,
): InputError =>
	new InputError(
		`${tables.map(({ table }) => table.file).join(" and ")}: no column is known to hold ${what}; ${remedy}; there are ${tables.map(({ table }) => listed(table.columns)).join("; ")}`,
	);
