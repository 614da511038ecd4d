import { yearDays } from "../../../base/time.js";
import { farthestDay, oldestDays } from "../dates.js";
import { type Sex, type TimeIs, timeUnits } from "../rows.js";

/** Column names in groups: the first group with a match counts; two matches in a group are ambiguous. */
export type Groups = readonly (readonly string[])[];

/** The columns of the first group with a match. */
export function matchingColumns<Column extends { readonly name: string }>(
	columns: readonly Column[],
	groups: Groups,
): readonly Column[] {
	for (const group of groups) {
		const matches = columns.filter(({ name }) => group.includes(name.trim().toLowerCase()));
		if (matches.length > 0) return matches;
	}
	return [];
}

export const patientNames: Groups = [
	["patient", "patient_id", "patientid", "patient_num", "patient_key"],
	["subject_id", "subjectid", "subject", "person_id", "personid", "person"],
	["desynpuf_id", "bene_id", "enrolid", "member_id", "memberid", "mrn", "pid"],
	["patientunitstayid"],
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
	["ageaticd"],
];
/** eICU counts the minutes since the admission to the unit. */
const offsetNames = ["diagnosisoffset", "treatmentoffset", "drugstartoffset", "labresultoffset"];
const unitNames: Groups = [
	["time_minutes", "time_hours", "time_days"],
	["start_minutes", "start_hours", "start_days"],
];
/** Names of the time column: a date, unless the times are ages or days. */
export const timeNames = (numbers: boolean): Groups =>
	numbers
		? [...ageNames, offsetNames, ...unitNames, ...dateNames]
		: [...dateNames, ...ageNames, offsetNames, ...unitNames];

export const codeNames: Groups = [
	[
		"code",
		"icd",
		"icd_code",
		"diagnosis_code",
		"diag_code",
		"dx",
		"dx_code",
		"icd9",
		"icd9_code",
		"icd9cm",
		"icd9_cd",
		"icd9code",
		"icd10",
		"icd10_code",
		"icd10cm",
		"icd10_cd",
		"phecode",
		"snomed",
		"snomed_code",
		"condition_code",
		"concept_code",
	],
	["atc", "atc_code", "ndc", "ndc_code", "rxnorm", "rxnorm_code", "rxcui", "drug_code"],
];
/** A prescription often has several codes for one drug; the most specific is used. */
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
	["icd_version", "icd_ver", "icd_type", "dx_version"],
];
export const sexNames: Groups = [["sex"], ["gender", "gender_concept_id"], ["bene_sex_ident_cd"]];
export const birthNames: Groups = [
	["birth", "birth_date", "birthdate", "date_of_birth", "dob"],
	["birth_datetime", "bene_birth_dt"],
];
export const birthYearNames: Groups = [["birth_year", "birthyear", "year_of_birth", "yob"]];
/** MIMIC-IV has a year in which a patient had a certain age. */
export const anchorNames: readonly [year: Groups, age: Groups] = [
	[["anchor_year"]],
	[["anchor_age"]],
];
/** Columns that hold an age at a time that their name does not tell. */
export const personAgeNames: Groups = [
	["age", "age_years", "age_in_years", "ageyears"],
	["age_at_admission", "admission_age", "anchor_age", "age_at_index"],
];
export const deathNames: Groups = [
	["death", "death_date", "deathdate", "date_of_death", "dod"],
	["death_datetime", "deathtime", "bene_death_dt"],
];
export const startNames: Groups = [
	["start", "start_date", "startdate", "start_day"],
	["start_minutes", "start_hours", "start_days"],
	["from", "from_date", "observation_period_start_date"],
];
export const endNames: Groups = [
	["end", "end_date", "enddate", "end_day"],
	["end_minutes", "end_hours", "end_days"],
	["to", "to_date", "until", "observation_period_end_date"],
];
export const splitColumnNames: Groups = [["split"], ["fold", "partition"]];

export const isTimeUnit = (unit: string | undefined): unit is TimeIs =>
	timeUnits.some((known) => known === unit);

/** Days per unit, also of those that names of columns state and no option has. */
export const daysIn = {
	"age-days": 1,
	"age-years": yearDays,
	days: 1,
	hours: 1 / 24,
	minutes: 1 / 1440,
	seconds: 1 / 86_400,
	weeks: 7,
	months: yearDays / 12,
	years: yearDays,
} as const;

/** The unit that the name of a column of times states: start_day, time_minutes and age_years do. */
export function statedUnit(name: string): keyof typeof daysIn | undefined {
	const words = name.trim().toLowerCase();
	if (/^age_?(in_?)?days$/.test(words)) return "age-days";
	if (/^age_?(in_?)?years$/.test(words) || words === "ageaticd") return "age-years";
	if (offsetNames.includes(words)) return "minutes";
	const [, unit] = /(?:^|_)(second|minute|hour|day|week|month|year)s?$/.exec(words) ?? [];
	return unit === undefined ? undefined : (`${unit}s` as keyof typeof daysIn);
}

/** The unit of records that the name of their time column implies. A day may be a date. */
export function unitNamed(name: string): TimeIs | undefined {
	const stated = statedUnit(name);
	return isTimeUnit(stated) && !/day\s*$/i.test(name) ? stated : undefined;
}

/** Whether times are ages, with birth at 0. */
export const isAge = (unit: keyof typeof daysIn | "date"): unit is "age-days" | "age-years" =>
	unit === "age-days" || unit === "age-years";

/** The least and greatest plausible time in days. */
export const plausibleDays = (unit: Exclude<TimeIs, "date">): readonly [number, number] =>
	isAge(unit) ? [0, oldestDays] : [-farthestDay, farthestDay];

/** How to read a table of records. By default columns are found by their names. */
export interface TableOptions {
	/** Column of the patient. */
	readonly patient?: string | undefined;
	/** Column of the time. */
	readonly time?: string | undefined;
	/**
	 * Column of the code, or several, each by its name or a pattern with `*`. Of several columns, every field with a code
	 * is a record of its own, in the order of the columns.
	 */
	readonly code?: string | readonly string[] | undefined;
	/** Column of the name of the code. */
	readonly name?: string | undefined;
	/** What stands between several codes in one field: `,`. */
	readonly separator?: string | undefined;
	/** Column of the code system, or the name of one system for all codes. */
	readonly system?: string | undefined;
	/** Column of the kind: diagnosis, drug, procedure, laboratory or other. */
	readonly kind?: string | undefined;
	/** Column of a numeric value. */
	readonly value?: string | undefined;
	/** Column of the value's unit. */
	readonly unit?: string | undefined;
	/** The date format as in strptime: %d/%m/%Y. */
	readonly dateFormat?: string | undefined;
	/** The unit of all times: of records, prescriptions, births and deaths. */
	readonly timeIs?: TimeIs | undefined;
	/** The unit of births and deaths, if it is another. */
	readonly peopleTimeIs?: TimeIs | undefined;
	/** One character, or `tab`; for every delimited file. */
	readonly delimiter?: string | undefined;
	/** Files with sex, birth, death and split of the patients. */
	readonly people?: string | readonly string[] | undefined;
	/** Columns of the people. */
	readonly sex?: string | undefined;
	readonly birth?: string | undefined;
	/** Column of the year of birth, if the date is not known: 1 July is taken. */
	readonly birthYear?: string | undefined;
	/** Column of the age in years at time 0, for times that are counted from an origin. */
	readonly age?: string | undefined;
	readonly death?: string | undefined;
	/** The meaning of values of sex, such as 0 and 1. */
	readonly sexValues?: Readonly<Record<string, Sex | null>> | undefined;
	/** Files with prescriptions. */
	readonly drugsFile?: string | readonly string[] | undefined;
	/** The system of the codes in them, if neither a column nor its name says it: rxnorm. */
	readonly drugSystem?: string | undefined;
	/** File with names of codes: columns code and name, and perhaps category, kind and the code system. */
	readonly names?: string | undefined;
	/** File with further columns, and the column to join by. */
	readonly join?: string | undefined;
	readonly on?: string | undefined;
	/** Unknown code systems to accept. */
	readonly allowSystems?: readonly string[] | undefined;
}
