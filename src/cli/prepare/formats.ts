import { Option } from "commander";
import { InputError } from "../../base/errors.js";
import type { RecordKind, RecordSource } from "../../records/index.js";
import {
	openCsv,
	openEvents,
	openFhir,
	openMeds,
	openOmop,
	openParquetRecords,
} from "../../records/index.js";

/** What the user gave, by the name of the option; formats take the ones they know. */
export type Given = Readonly<Record<string, unknown>>;

interface Format {
	readonly about: string;
	/** Names of its options, as the parser knows them. */
	readonly takes: readonly string[];
	open(paths: readonly string[], given: Given): Promise<RecordSource>;
}

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

const tableOptions = [
	"patient",
	"time",
	"code",
	"system",
	"kind",
	"value",
	"timeIs",
	"dateFormat",
	"delimiter",
	"people",
	"drugsFile",
	"join",
	"on",
	"names",
	"allowSystem",
];

export const formats: Readonly<Record<string, Format>> = {
	csv: {
		about: "delimited text, .gz too: a file, several, a folder or a pattern",
		takes: tableOptions,
		open: (paths, given) => openCsv(needed("csv", paths), systemsOf(given)),
	},
	parquet: {
		about: "the same columns in Parquet",
		takes: tableOptions,
		open: (paths, given) => openParquetRecords(needed("parquet", paths), systemsOf(given)),
	},
	meds: {
		about: "a folder in the Medical Event Data Standard",
		takes: ["kinds", "ignoreSplits"],
		open: (paths, { kinds, ignoreSplits }) =>
			openMeds(one("meds", paths), {
				kinds: kinds as RecordKind[] | undefined,
				splits: ignoreSplits ? "ignore" : "use",
			}),
	},
	omop: {
		about: "a folder of CDM 5 tables, or --db for a PostgreSQL database",
		takes: [
			"db",
			"schema",
			"vocabularySchema",
			"conditions",
			"drugTable",
			"observations",
			"sourceSystem",
			"conceptMap",
		],
		open: (paths, given) =>
			openOmop(given.db === undefined ? one("omop", paths, "or --db") : paths[0], given),
	},
	fhir: {
		about: "R4 bundles and bulk exports: files or folders of .json and .ndjson",
		takes: ["encounterReasons", "allCodings", "allowSystem"],
		open: (paths, given) => openFhir(needed("fhir", paths), systemsOf(given)),
	},
	events: {
		about: 'one history a line: {"types":[4,"E11"],"times":[0.5,31]}',
		takes: ["train", "valid", "test", "names"],
		open: (paths, given) => {
			const { train, valid, test } = given as Record<string, string | undefined>;
			const names = { names: given.names as string | undefined };
			if (train === undefined && valid === undefined && test === undefined)
				return openEvents(one("events", paths, "or --train, --valid and --test"), names);
			if (paths.length > 0)
				throw new InputError(
					`both SOURCE (${paths[0]}) and files of splits were given; choose one`,
				);
			if (train === undefined)
				throw new InputError("--train is missing; expected it beside --valid and --test");
			return openEvents({ train, valid, test }, names);
		},
	},
};

/** Opens a source; an option that its format does not know is refused, not ignored. */
export async function openSource(
	name: string,
	paths: readonly string[],
	given: Given,
): Promise<RecordSource> {
	const format = formats[name] as Format;
	for (const option of Object.values(formatOptions).flat()) {
		const key = option.attributeName();
		if (given[key] === undefined || format.takes.includes(key)) continue;
		const others = Object.entries(formats).filter(([, { takes }]) => takes.includes(key));
		throw new InputError(
			`${option.long} does not go with --from ${name}; it is for --from ${others.map(([other]) => other).join(", ")}`,
		);
	}
	const own = format.takes.filter((key) => given[key] !== undefined);
	return format.open(paths, Object.fromEntries(own.map((key) => [key, given[key]])));
}

function systemsOf({ allowSystem, ...given }: Given): Given {
	return allowSystem === undefined ? given : { ...given, allowSystems: allowSystem };
}

function needed(format: string, paths: readonly string[]): readonly string[] {
	if (paths.length > 0) return paths;
	throw new InputError(`SOURCE is missing; expected a file or folder to read as ${format}`);
}

function one(format: string, paths: readonly string[], other = ""): string {
	const [path, second] = paths;
	if (path === undefined)
		throw new InputError(
			`SOURCE is missing; expected a file or folder to read as ${format} ${other}`.trim(),
		);
	if (second === undefined) return path;
	throw new InputError(`${paths.length} sources were given; expected one to read as ${format}`);
}

function kindsOf(text: string): string[] {
	const kinds = text.split(",").map((kind) => kind.trim());
	const wrong = kinds.find((kind) => !["diagnosis", "drug", "other"].includes(kind));
	if (wrong === undefined) return kinds;
	throw new InputError(`--kinds has "${wrong}"; expected some of diagnosis,drug,other`);
}
