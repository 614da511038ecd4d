import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { recordKinds, type Sex } from "../../data/records/rows.js";
import { timeUnits } from "../../data/records/tables/column-names.js";
import { sexOf } from "../../data/records/words.js";
import { flag, inGroup, option, readBy, texts } from "./fields.js";

const text = (placeholder: string, description: string) =>
	option(placeholder, description, z.string().optional());
const several = (placeholder: string, description: string) =>
	option(placeholder, description, texts.optional());
const choice = <T extends string>(
	placeholder: string,
	description: string,
	choices: readonly [T, ...T[]],
) => option(placeholder, description, z.enum(choices).optional());

/** Options of the record formats. */
export const recordFields = {
	...inGroup("Tables (--from csv, parquet):", {
		patient: text(
			"column",
			"column of the patient id; this and the other columns are found by name by default",
		),
		time: text("column", "column of the date, timestamp or age"),
		code: several(
			"column",
			'column of the code; may be repeated, or be a pattern: "ICD9_DGNS_CD_*"',
		),
		name: text("column", "column of the name of the code"),
		separator: text("text", "what stands between several codes in one field: ,"),
		system: text(
			"column|name",
			"column of the code system, or the system of all codes: icd9; icd means 9 or 10 by form",
		),
		kind: text("column", `column that says ${recordKinds.slice(0, -1).join(", ")} or other`),
		value: text("column", "column of a number that goes with the code"),
		unit: text("column", "column of the unit of that number"),
		timeIs: choice(
			"what",
			"meaning of the times in all files; a time column such as age_years or time_minutes says it by its name (default: date)",
			timeUnits,
		),
		peopleTimeIs: choice(
			"what",
			"the same for births and deaths in --people, if they differ",
			timeUnits,
		),
		dateFormat: text("form", "date format, as in strptime: %d/%m/%Y"),
		delimiter: text("character", "character between fields (default: detected)"),
		people: several(
			"file",
			"table with sex, birth, death and split of the patients; may be repeated",
		),
		sex: text("column", "column of the sex in --people"),
		birth: text("column", "column of the date of birth in --people"),
		birthYear: text("column", "column of the year of birth in --people, if it has no date"),
		age: text(
			"column",
			"column of the age in years at time 0 in --people, for times that count from an origin",
		),
		death: text("column", "column of the date of death in --people"),
		sexValues: option(
			"list",
			"meaning of values of the sex: 0=female,1=male",
			readBy(sexValuesOf).optional(),
		),
		drugsFile: several(
			"file",
			"table of prescriptions: patient, date, drug or its code; may be repeated",
		),
		drugSystem: text("name", "system of the codes in --drugs-file: rxnorm"),
		join: text("file", "table with columns that the records lack, such as admission dates"),
		on: text("column", "column to join on"),
	}),
	...inGroup("Event lists (--from events):", {
		train: text("file", "training histories, instead of SOURCE"),
		valid: text("file", "validation histories, instead of SOURCE"),
		test: text("file", "test histories, instead of SOURCE"),
	}),
	...inGroup("MEDS (--from meds):", {
		kinds: option(
			"list",
			`kinds to read: ${recordKinds.join(",")} (default: diagnosis,drug)`,
			readBy(kindsOf).optional(),
		),
		ignoreSplits: flag("split by hash even if the folder has splits"),
	}),
	...inGroup("OMOP (--from omop):", {
		db: text("url", "database to read instead of SOURCE: postgres://user@host/database"),
		schema: text("name", "schema of the tables"),
		vocabularySchema: text("name", "schema of concept and concept_relationship"),
		conditions: choice("table", "table of conditions to read", ["occurrence", "era"]),
		drugTable: choice("table", "table of drugs to read", ["exposure", "era"]),
		observations: flag("also read ICD codes from observation"),
		sourceSystem: choice("system", "code system of condition_source_value", ["icd9", "icd10"]),
		conceptMap: text("file", "CSV that maps concept ids to ICD codes, if there is no vocabulary"),
	}),
	...inGroup("FHIR (--from fhir):", {
		encounterReasons: flag("also read encounter reasons as diagnoses"),
		allCodings: flag("keep every coding of a concept, not only the preferred one"),
	}),
	...inGroup("Measurements (--from omop, fhir):", {
		measurements: flag("also read the table measurement, or Observations, with their values"),
	}),
	...inGroup("Names of codes and systems:", {
		names: text("file", "CSV with names of codes: code,name[,category[,kind]]"),
		allowSystem: several("name", "accept an unknown code system; may be repeated"),
	}),
};

function sexValuesOf(list: string): Record<string, Sex | null> {
	const meanings = new Map<string, Sex | null>();
	for (const pair of list.split(",")) {
		const [, value, word] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
		const sex = sexOf(word);
		const key = value?.trim();
		if (!key || !word?.trim() || sex === undefined)
			throw new InputError(
				`--sex-values has "${pair.trim()}"; expected a value and female, male or unknown, as in 0=female,1=male,d=unknown`,
			);
		if (meanings.has(key) && meanings.get(key) !== sex)
			throw new InputError(`--sex-values gives ${key} two meanings; expected one`);
		meanings.set(key, sex);
	}
	return Object.fromEntries(meanings);
}

function kindsOf(list: string): string[] {
	const kinds = list.split(",").map((kind) => kind.trim());
	const known: readonly string[] = recordKinds;
	const wrong = kinds.find((kind) => !known.includes(kind));
	if (wrong === undefined) return kinds;
	throw new InputError(`--kinds has "${wrong}"; expected some of ${recordKinds.join(",")}`);
}
