import { Option } from "commander";
import { InputError } from "../base/errors.js";

const several = (value: string, before: readonly string[] = []) => [...before, value];
const option = (flags: string, description: string, ...choices: string[]) => {
	const made = new Option(flags, description);
	return choices.length > 0 ? made.choices(choices) : made;
};

/** Options that belong to formats, under the heading they have in the help. */
export const formatOptions: Readonly<Record<string, readonly Option[]>> = {
	"Tables (--from csv, parquet):": [
		option(
			"--patient <column>",
			"column of the patient; found by name if left out, as are the rest",
		),
		option("--time <column>", "column of the date, timestamp or age"),
		option("--code <column>", "column of the code"),
		option("--system <column|name>", "column of the code system, or the system of all codes: icd9"),
		option("--kind <column>", "column that says diagnosis, drug or other"),
		option("--value <column>", "column of a number that goes with the code"),
		option("--time-is <what>", "what the times are", "date", "age-days", "age-years", "days"),
		option("--date-format <form>", "how dates are written, as in strptime: %d/%m/%Y"),
		option("--delimiter <character>", "between fields; found out if left out"),
		option("--people <file>", "sex, birth, death and split of the patients"),
		option("--drugs-file <file>", "prescriptions: patient, date, drug or its code"),
		option("--join <file>", "table with columns the records lack, such as the dates of admissions"),
		option("--on <column>", "the column that both have"),
	],
	"Event lists (--from events):": [
		option("--train <file>", "instead of SOURCE: the training histories,"),
		option("--valid <file>", "those to validate with,"),
		option("--test <file>", "and those to test with"),
	],
	"MEDS (--from meds):": [
		option(
			"--kinds <list>",
			"kinds to read: diagnosis,drug,other (default: diagnosis,drug)",
		).argParser(kindsOf),
		option("--ignore-splits", "split by hash though the folder has splits"),
	],
	"OMOP (--from omop):": [
		option("--db <url>", "instead of SOURCE: postgres://user@host/database"),
		option("--schema <name>", "schema of the tables"),
		option("--vocabulary-schema <name>", "schema of concept and concept_relationship"),
		option("--conditions <table>", "which conditions to read", "occurrence", "era"),
		option("--drug-table <table>", "which drugs to read", "exposure", "era"),
		option("--observations", "read ICD codes in observation too"),
		option("--source-system <system>", "what condition_source_value holds", "icd9", "icd10"),
		option(
			"--concept-map <file>",
			"CSV from concept ids to ICD codes, where there is no vocabulary",
		),
	],
	"FHIR (--from fhir):": [
		option("--encounter-reasons", "take the reasons of encounters as diagnoses too"),
		option("--all-codings", "keep every coding of a concept, not the best known one"),
	],
	"Names of codes and systems:": [
		option("--names <file>", "CSV with code,name[,category[,kind]]"),
		option(
			"--allow-system <name>",
			"let a code system pass that is not known; may be repeated",
		).argParser(several),
	],
};

function kindsOf(text: string): string[] {
	const kinds = text.split(",").map((kind) => kind.trim());
	const wrong = kinds.find((kind) => !["diagnosis", "drug", "other"].includes(kind));
	if (wrong === undefined) return kinds;
	throw new InputError(`--kinds has "${wrong}"; expected some of diagnosis,drug,other`);
}
