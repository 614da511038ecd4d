import { InputError } from "../../base/errors.js";
import {
	type FileKind,
	fileKind,
	openCsv,
	openEvents,
	openFhir,
	openMeds,
	openOmop,
	openParquetRecords,
	type RecordKind,
	type RecordSource,
} from "../../data/records/index.js";
import { recordKinds, type Sex, timeUnits } from "../../data/records/rows.js";
import { sexOf } from "../../data/records/words.js";
import {
	choice,
	column,
	type Fields,
	file,
	flag,
	inGroup,
	option,
	readBy,
	several,
	text,
} from "./fields.js";

/** Reader options by name; each format accepts some of them. */
export type ReaderOptions = Readonly<Record<string, unknown>>;

interface Format {
	readonly about: string;
	/** The options that it accepts. */
	readonly takes: Fields;
	open(paths: readonly string[], given: ReaderOptions): Promise<RecordSource>;
}

const tableFields = inGroup("Tables (--from csv, parquet):", {
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

const eventFields = inGroup("Event lists (--from events):", {
	train: file("training histories, instead of SOURCE"),
	valid: file("validation histories, instead of SOURCE"),
	test: file("test histories, instead of SOURCE"),
});

const medsFields = inGroup("MEDS (--from meds):", {
	kinds: option(
		"list",
		`kinds to read: ${recordKinds.join(",")} (default: diagnosis,drug)`,
		readBy(kindsOf).optional(),
	),
	ignoreSplits: flag("split by hash even if the folder has splits"),
});

const omopFields = inGroup("OMOP (--from omop):", {
	db: text("url", "database to read instead of SOURCE: postgres://user@host/database"),
	schema: text("name", "schema of the tables"),
	vocabularySchema: text("name", "schema of concept and concept_relationship"),
	conditions: choice("table", "table of conditions to read", ["occurrence", "era"]),
	drugTable: choice("table", "table of drugs to read", ["exposure", "era"]),
	observations: flag("also read ICD codes from observation"),
	sourceSystem: choice("system", "code system of condition_source_value", ["icd9", "icd10"]),
	conceptMap: file("CSV that maps concept ids to ICD codes, if there is no vocabulary"),
});

const fhirFields = inGroup("FHIR (--from fhir):", {
	encounterReasons: flag("also read encounter reasons as diagnoses"),
	allCodings: flag("keep every coding of a concept, not only the preferred one"),
});

const measurementFields = inGroup("Measurements (--from omop, fhir):", {
	measurements: flag("also read the table measurement, or Observations, with their values"),
});

const namingFields = inGroup("Names of codes and systems:", {
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

const { names, allowSystem } = namingFields;
const systemsOf = ({ allowSystem: allowSystems, ...given }: ReaderOptions): ReaderOptions =>
	allowSystems === undefined ? given : { ...given, allowSystems };

export const recordFormats: Readonly<Record<string, Format>> = {
	csv: {
		about: "delimited text, .gz too: a file, several, a folder or a pattern",
		takes: { ...tableFields, ...namingFields },
		open: (paths, given) => openCsv(needed("csv", paths), systemsOf(given)),
	},
	parquet: {
		about: "the same columns in Parquet",
		takes: { ...tableFields, ...namingFields },
		open: (paths, given) => openParquetRecords(needed("parquet", paths), systemsOf(given)),
	},
	meds: {
		about: "a folder in the Medical Event Data Standard",
		takes: medsFields,
		open: (paths, { kinds, ignoreSplits }) =>
			openMeds(one("meds", paths), {
				kinds: kinds as RecordKind[] | undefined,
				splits: ignoreSplits ? "ignore" : "use",
			}),
	},
	omop: {
		about: "a folder of CDM 5 tables, or --db for a PostgreSQL database",
		takes: { ...omopFields, ...measurementFields },
		open: (paths, given) =>
			openOmop(given.db === undefined ? one("omop", paths, "or `db`") : paths[0], given),
	},
	fhir: {
		about: "R4 bundles and bulk exports: files or folders of .json and .ndjson",
		takes: { ...fhirFields, ...measurementFields, allowSystem },
		open: (paths, given) => openFhir(needed("fhir", paths), systemsOf(given)),
	},
	events: {
		about: 'one history a line: {"types":[4,"E11"],"times":[0.5,31]}',
		takes: { ...eventFields, names },
		open: (paths, given) => {
			const { train, valid, test } = given as Record<string, string | undefined>;
			const names = { names: given.names as string | undefined };
			if (train === undefined && valid === undefined && test === undefined)
				return openEvents(one("events", paths, "or `train`, `valid` and `test`"), names);
			if (paths.length > 0)
				throw new InputError(
					`both \`source\` (${paths[0]}) and files of splits were given; choose one`,
				);
			if (train === undefined)
				throw new InputError("`train` is missing; expected with `valid` and `test`");
			return openEvents({ train, valid, test }, names);
		},
	},
};

/** Opens records of a format; rejects options that the format does not accept. */
export async function openRecords(
	name: string,
	paths: readonly string[],
	options: ReaderOptions,
): Promise<RecordSource> {
	const format = recordFormats[name] as Format;
	const all = Object.entries(recordFormats);
	const isGiven = (option: string) => options[option] !== undefined;
	const misplaced = Object.keys(recordFields).find(
		(option) => isGiven(option) && !(option in format.takes),
	);
	if (misplaced !== undefined) {
		const others = all.flatMap(([other, { takes }]) => (misplaced in takes ? [other] : []));
		throw new InputError(
			`\`${misplaced}\` does not apply to \`format\` ${name}; it is for \`format\` ${others.join(", ")}`,
			{ field: misplaced, value: options[misplaced] },
		);
	}
	for (const path of paths) await refuseOtherKind(name, path);
	const given = Object.keys(format.takes).filter(isGiven);
	return format.open(paths, Object.fromEntries(given.map((option) => [option, options[option]])));
}

const structured: readonly FileKind[] = ["fhir", "events", "json"];
const tables: readonly FileKind[] = ["text table", "parquet"];

/** Kinds of files that are never of a format; its reader tells text tables from Parquet. */
const otherKinds: Readonly<Record<string, readonly FileKind[]>> = {
	csv: structured,
	parquet: structured,
	meds: structured,
	omop: [...structured, ...tables],
	fhir: ["events", ...tables],
	events: ["fhir", ...tables],
};

const kindTexts: Readonly<Record<FileKind, readonly [text: string, remedy: string]>> = {
	fhir: ["FHIR", "read it with `format` fhir"],
	events: ["an event list", "read it with `format` events"],
	json: ["JSON", "FHIR is read with `format` fhir, event lists with `format` events"],
	"text table": ["a table in text", "read it with `format` csv"],
	parquet: ["a Parquet file", "read it with `format` parquet, or `format` meds"],
};

/** Refuses a file of another kind, and says how it is read. */
async function refuseOtherKind(format: string, path: string): Promise<void> {
	const kind = await fileKind(path);
	if (!kind || !otherKinds[format]?.includes(kind)) return;
	const [text, remedy] = kindTexts[kind];
	throw new InputError(`${path} is ${text}; expected ${recordFormats[format]?.about}; ${remedy}`, {
		field: "format",
		value: format,
	});
}

function needed(format: string, paths: readonly string[]): readonly string[] {
	if (paths.length > 0) return paths;
	throw new InputError(`\`source\` is missing; expected a file or folder to read as ${format}`);
}

function one(format: string, paths: readonly string[], other = ""): string {
	const [path, second] = paths;
	if (path === undefined)
		throw new InputError(
			`\`source\` is missing; expected a file or folder to read as ${format} ${other}`.trim(),
		);
	if (second === undefined) return path;
	throw new InputError(`${paths.length} sources were given; expected one to read as ${format}`);
}

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
