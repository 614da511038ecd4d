import { InputError } from "../../base/errors.js";
import {
	choice,
	column,
	file,
	flag,
	inGroup,
	type LibraryOptions,
	option,
	readBy,
	several,
	text,
} from "../../base/fields.js";
import { type RecordKind, recordKinds, type Sex, timeUnits } from "./rows.js";
import { sexOf } from "./words.js";

/** How to read a table of records. Columns that no option names are found by their usual names. */
export const tableFields = inGroup("Tables (--from csv, parquet):", {
	patient: column(
		"column of the patient id; this and the other columns are found by name by default",
	),
	time: column("column of the date, timestamp or age"),
	code: several("column", 'column of the code; may be repeated, or be a pattern: "ICD9_DGNS_CD_*"'),
	name: column("column of the name of the code"),
	separator: text("text", "what stands between several codes in one field: ,"),
	system: text(
		"column|name",
		"column of the code system, or the system of all codes: icd9; icd means 9 or 10 by form",
	),
	kind: column(`column that says ${recordKinds.slice(0, -1).join(", ")} or other`),
	value: column("column of a number that goes with the code"),
	unit: column("column of the unit of that number"),
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
	sex: column("column of the sex in --people"),
	birth: column("column of the date of birth in --people"),
	birthYear: column("column of the year of birth in --people, if it has no date"),
	age: column(
		"column of the age in years at time 0 in --people, for times that count from an origin",
	),
	death: column("column of the date of death in --people"),
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
	join: file("table with columns that the records lack, such as admission dates"),
	on: column("column to join on"),
});

export const eventFields = inGroup("Event lists (--from events):", {
	train: file("training histories, instead of SOURCE"),
	valid: file("validation histories, instead of SOURCE"),
	test: file("test histories, instead of SOURCE"),
});

export const medsFields = inGroup("MEDS (--from meds):", {
	kinds: option(
		"list",
		`kinds to read: ${recordKinds.join(",")} (default: diagnosis,drug)`,
		readBy(kindsOf).optional(),
	),
	ignoreSplits: flag("split by hash even if the folder has splits"),
});

export const omopFields = inGroup("OMOP (--from omop):", {
	db: text("url", "database to read instead of SOURCE: postgres://user@host/database"),
	schema: text("name", "schema of the tables"),
	vocabularySchema: text("name", "schema of concept and concept_relationship"),
	conditions: choice("table", "table of conditions to read", ["occurrence", "era"]),
	drugTable: choice("table", "table of drugs to read", ["exposure", "era"]),
	observations: flag("also read ICD codes from observation"),
	sourceSystem: choice("system", "code system of condition_source_value", ["icd9", "icd10"]),
	conceptMap: file("CSV that maps concept ids to ICD codes, if there is no vocabulary"),
});

export const fhirFields = inGroup("FHIR (--from fhir):", {
	encounterReasons: flag("also read encounter reasons as diagnoses"),
	allCodings: flag("keep every coding of a concept, not only the preferred one"),
});

export const measurementFields = inGroup("Measurements (--from omop, fhir):", {
	measurements: flag("also read the table measurement, or Observations, with their values"),
});

export const namingFields = inGroup("Names of codes and systems:", {
	names: file("CSV with names of codes: code,name[,category[,kind]]"),
	allowSystem: several("name", "accept an unknown code system; may be repeated"),
});

export const recordFields = {
	...tableFields,
	...eventFields,
	...medsFields,
	...omopFields,
	...fhirFields,
	...measurementFields,
	...namingFields,
};

/** Options on records of any format; each format accepts some of them. */
export type ReaderOptions = LibraryOptions<typeof recordFields>;

type Measurements = LibraryOptions<typeof measurementFields>;

/** `names`: a file with names of codes. `allowSystems`: unknown code systems to accept. */
interface Naming extends Pick<ReaderOptions, "names"> {
	readonly allowSystems?: readonly string[] | undefined;
}

export type TableOptions = LibraryOptions<typeof tableFields> & Naming;
/** One file per split. */
export type EventFiles = LibraryOptions<typeof eventFields>;
/** `splits`: whether to use those of the dataset, which is the default. */
export interface MedsOptions extends Pick<ReaderOptions, "kinds"> {
	readonly splits?: "use" | "ignore" | undefined;
}
export interface OmopOptions
	extends Omit<LibraryOptions<typeof omopFields>, "sourceSystem">,
		Measurements {
	readonly sourceSystem?: string | undefined;
	/** Rows per batch from a database. */
	readonly batchRows?: number | undefined;
}
export type FhirOptions = LibraryOptions<typeof fhirFields> &
	Measurements &
	Pick<Naming, "allowSystems">;

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

function kindsOf(list: string): RecordKind[] {
	return list.split(",").map((text) => {
		const name = text.trim();
		const kind = recordKinds.find((known) => known === name);
		if (kind) return kind;
		throw new InputError(`--kinds has "${name}"; expected some of ${recordKinds.join(",")}`);
	});
}
