import { Option } from "commander";
import { InputError } from "../../base/errors.js";
import { recordKinds, type Sex } from "../../data/records/rows.js";
import { sexOf } from "../../data/records/sexes.js";
import { timeUnits } from "../../data/records/tables/column-names.js";
import { mayRepeat } from "./repeated-options.js";

const option = (flags: string, description: string, ...choices: string[]) => {
	const made = new Option(flags, description);
	return choices.length > 0 ? made.choices(choices) : made;
};

/** Options of the record formats, by their heading in the help. */
export const formatOptions: Readonly<Record<string, readonly Option[]>> = {
	"Tables (--from csv, parquet):": [
		option(
			"--patient <column>",
			"column of the patient id; this and the other columns are found by name by default",
		),
		option("--time <column>", "column of the date, timestamp or age"),
		mayRepeat(
			option(
				"--code <column>",
				'column of the code; may be repeated, or be a pattern: "ICD9_DGNS_CD_*"',
			),
		),
		option("--name <column>", "column of the name of the code"),
		option("--separator <text>", "what stands between several codes in one field: ,"),
		option(
			"--system <column|name>",
			"column of the code system, or the system of all codes: icd9; icd means 9 or 10 by form",
		),
		option("--kind <column>", `column that says ${recordKinds.slice(0, -1).join(", ")} or other`),
		option("--value <column>", "column of a number that goes with the code"),
		option("--unit <column>", "column of the unit of that number"),
		option(
			"--time-is <what>",
			"meaning of the times in all files; a time column such as age_years or time_minutes says it by its name (default: date)",
			...timeUnits,
		),
		option(
			"--people-time-is <what>",
			"the same for births and deaths in --people, if they differ",
			...timeUnits,
		),
		option("--date-format <form>", "date format, as in strptime: %d/%m/%Y"),
		option("--delimiter <character>", "character between fields (default: detected)"),
		mayRepeat(
			option(
				"--people <file>",
				"table with sex, birth, death and split of the patients; may be repeated",
			),
		),
		option("--sex <column>", "column of the sex in --people"),
		option("--birth <column>", "column of the date of birth in --people"),
		option("--birth-year <column>", "column of the year of birth in --people, if it has no date"),
		option(
			"--age <column>",
			"column of the age in years at time 0 in --people, for times that count from an origin",
		),
		option("--death <column>", "column of the date of death in --people"),
		option("--sex-values <list>", "meaning of values of the sex: 0=female,1=male").argParser(
			sexValuesOf,
		),
		mayRepeat(
			option(
				"--drugs-file <file>",
				"table of prescriptions: patient, date, drug or its code; may be repeated",
			),
		),
		option("--drug-system <name>", "system of the codes in --drugs-file: rxnorm"),
		option("--join <file>", "table with columns that the records lack, such as admission dates"),
		option("--on <column>", "column to join on"),
	],
	"Event lists (--from events):": [
		option("--train <file>", "training histories, instead of SOURCE"),
		option("--valid <file>", "validation histories, instead of SOURCE"),
		option("--test <file>", "test histories, instead of SOURCE"),
	],
	"MEDS (--from meds):": [
		option(
			"--kinds <list>",
			`kinds to read: ${recordKinds.join(",")} (default: diagnosis,drug)`,
		).argParser(kindsOf),
		option("--ignore-splits", "split by hash even if the folder has splits"),
	],
	"OMOP (--from omop):": [
		option("--db <url>", "database to read instead of SOURCE: postgres://user@host/database"),
		option("--schema <name>", "schema of the tables"),
		option("--vocabulary-schema <name>", "schema of concept and concept_relationship"),
		option("--conditions <table>", "table of conditions to read", "occurrence", "era"),
		option("--drug-table <table>", "table of drugs to read", "exposure", "era"),
		option("--observations", "also read ICD codes from observation"),
		option("--source-system <system>", "code system of condition_source_value", "icd9", "icd10"),
		option(
			"--concept-map <file>",
			"CSV that maps concept ids to ICD codes, if there is no vocabulary",
		),
	],
	"FHIR (--from fhir):": [
		option("--encounter-reasons", "also read encounter reasons as diagnoses"),
		option("--all-codings", "keep every coding of a concept, not only the preferred one"),
	],
	"Measurements (--from omop, fhir):": [
		option("--measurements", "also read the table measurement, or Observations, with their values"),
	],
	"Names of codes and systems:": [
		option("--names <file>", "CSV with names of codes: code,name[,category[,kind]]"),
		mayRepeat(option("--allow-system <name>", "accept an unknown code system; may be repeated")),
	],
};

function sexValuesOf(text: string): Record<string, Sex | null> {
	const meanings = new Map<string, Sex | null>();
	for (const pair of text.split(",")) {
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

function kindsOf(text: string): string[] {
	const kinds = text.split(",").map((kind) => kind.trim());
	const known: readonly string[] = recordKinds;
	const wrong = kinds.find((kind) => !known.includes(kind));
	if (wrong === undefined) return kinds;
	throw new InputError(`--kinds has "${wrong}"; expected some of ${recordKinds.join(",")}`);
}
