import { InputError } from "../../base/errors.js";
import type { FileKind, RecordKind, RecordSource } from "../../data/records/index.js";
import {
	fileKind,
	openCsv,
	openEvents,
	openFhir,
	openMeds,
	openOmop,
	openParquetRecords,
} from "../../data/records/index.js";

/** Reader options by name; each format accepts some of them. */
export type ReaderOptions = Readonly<Record<string, unknown>>;

interface Format {
	readonly about: string;
	/** Names of the accepted options. */
	readonly takes: readonly string[];
	open(paths: readonly string[], given: ReaderOptions): Promise<RecordSource>;
}

const tableOptions = [
	"patient",
	"time",
	"code",
	"name",
	"separator",
	"system",
	"kind",
	"value",
	"unit",
	"timeIs",
	"peopleTimeIs",
	"dateFormat",
	"delimiter",
	"people",
	"sex",
	"birth",
	"birthYear",
	"age",
	"death",
	"sexValues",
	"drugsFile",
	"drugSystem",
	"join",
	"on",
	"names",
	"allowSystem",
];

/** The record formats. */
export const recordFormats: Readonly<Record<string, Format>> = {
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
			"measurements",
			"sourceSystem",
			"conceptMap",
		],
		open: (paths, given) =>
			openOmop(given.db === undefined ? one("omop", paths, "or `db`") : paths[0], given),
	},
	fhir: {
		about: "R4 bundles and bulk exports: files or folders of .json and .ndjson",
		takes: ["encounterReasons", "measurements", "allCodings", "allowSystem"],
		open: (paths, given) => openFhir(needed("fhir", paths), systemsOf(given)),
	},
	events: {
		about: 'one history a line: {"types":[4,"E11"],"times":[0.5,31]}',
		takes: ["train", "valid", "test", "names"],
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
	for (const option of new Set(all.flatMap(([, { takes }]) => takes))) {
		if (options[option] === undefined || format.takes.includes(option)) continue;
		const others = all.filter(([, { takes }]) => takes.includes(option)).map(([other]) => other);
		throw new InputError(
			`\`${option}\` does not apply to \`format\` ${name}; it is for \`format\` ${others.join(", ")}`,
			{ field: option, value: options[option] },
		);
	}
	for (const path of paths) await refuseOtherKind(name, path);
	const own = format.takes.filter((option) => options[option] !== undefined);
	return format.open(paths, Object.fromEntries(own.map((option) => [option, options[option]])));
}

/** Kinds of files that a format cannot be in; whether its tables are text or Parquet, its reader tells. */
const otherKinds: Readonly<Record<string, readonly FileKind[]>> = {
	csv: ["fhir", "events", "json"],
	parquet: ["fhir", "events", "json"],
	meds: ["fhir", "events", "json"],
	omop: ["fhir", "events", "json", "text table", "parquet"],
	fhir: ["events", "text table", "parquet"],
	events: ["fhir", "text table", "parquet"],
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

function systemsOf({ allowSystem, ...given }: ReaderOptions): ReaderOptions {
	return allowSystem === undefined ? given : { ...given, allowSystems: allowSystem };
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
