import { InputError } from "../../base/errors.js";
import type { Fields } from "../../base/fields.js";
import { type FileKind, fileKind } from "./bytes.js";
import { openEvents } from "./events.js";
import { openFhir } from "./fhir/index.js";
import { openMeds } from "./meds/index.js";
import { openOmop } from "./omop/index.js";
import {
	eventFields,
	fhirFields,
	measurementFields,
	medsFields,
	namingFields,
	omopFields,
	type ReaderOptions,
	recordFields,
	tableFields,
} from "./options.js";
import type { RecordSource } from "./store.js";
import { openCsv, openParquetRecords } from "./tables/index.js";

interface Format {
	readonly about: string;
	/** The options that it accepts. */
	readonly takes: Fields;
	/** Kinds of files that are never of this format; the readers of tables tell text from Parquet. */
	readonly never: readonly FileKind[];
	open(paths: readonly string[], given: ReaderOptions): Promise<RecordSource>;
}

const structured: readonly FileKind[] = ["fhir", "events", "json"];
const tables: readonly FileKind[] = ["text table", "parquet"];
const { names, allowSystem } = namingFields;

const withSystems = ({ allowSystem, ...given }: ReaderOptions) => ({
	...given,
	...(allowSystem !== undefined && { allowSystems: [allowSystem].flat() }),
});

export const recordFormats: Readonly<Record<string, Format>> = {
	csv: {
		about: "delimited text, .gz too: a file, several, a folder or a pattern",
		takes: { ...tableFields, ...namingFields },
		never: structured,
		open: (paths, given) => openCsv(needed("csv", paths), withSystems(given)),
	},
	parquet: {
		about: "the same columns in Parquet",
		takes: { ...tableFields, ...namingFields },
		never: structured,
		open: (paths, given) => openParquetRecords(needed("parquet", paths), withSystems(given)),
	},
	meds: {
		about: "a folder in the Medical Event Data Standard",
		takes: medsFields,
		never: structured,
		open: (paths, { kinds, ignoreSplits }) =>
			openMeds(one("meds", paths), { kinds, splits: ignoreSplits ? "ignore" : "use" }),
	},
	omop: {
		about: "a folder of CDM 5 tables, or --db for a PostgreSQL database",
		takes: { ...omopFields, ...measurementFields },
		never: [...structured, ...tables],
		open: (paths, given) =>
			openOmop(given.db === undefined ? one("omop", paths, "or `db`") : paths[0], given),
	},
	fhir: {
		about: "R4 bundles and bulk exports: files or folders of .json and .ndjson",
		takes: { ...fhirFields, ...measurementFields, allowSystem },
		never: ["events", ...tables],
		open: (paths, given) => openFhir(needed("fhir", paths), withSystems(given)),
	},
	events: {
		about: 'one history a line: {"types":[4,"E11"],"times":[0.5,31]}',
		takes: { ...eventFields, names },
		never: ["fhir", ...tables],
		open: (paths, { train, valid, test, names }) => {
			if (train === undefined && valid === undefined && test === undefined)
				return openEvents(one("events", paths, "or `train`, `valid` and `test`"), { names });
			if (paths.length > 0)
				throw new InputError(
					`both \`source\` (${paths[0]}) and files of splits were given; choose one`,
				);
			if (train === undefined)
				throw new InputError("`train` is missing; expected with `valid` and `test`");
			return openEvents({ train, valid, test }, { names });
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
	const values: Readonly<Record<string, unknown>> = options;
	const named = Object.keys(recordFields).filter((option) => values[option] !== undefined);
	const misplaced = named.find((option) => !(option in format.takes));
	if (misplaced !== undefined) {
		const others = Object.entries(recordFormats).flatMap(([other, { takes }]) =>
			misplaced in takes ? [other] : [],
		);
		throw new InputError(
			`\`${misplaced}\` does not apply to \`format\` ${name}; it is for \`format\` ${others.join(", ")}`,
			{ field: misplaced, value: values[misplaced] },
		);
	}
	for (const path of paths) await refuseOtherKind(name, format, path);
	return format.open(paths, Object.fromEntries(named.map((option) => [option, values[option]])));
}

const kindTexts: Readonly<Record<FileKind, readonly [text: string, remedy: string]>> = {
	fhir: ["FHIR", "read it with `format` fhir"],
	events: ["an event list", "read it with `format` events"],
	json: ["JSON", "FHIR is read with `format` fhir, event lists with `format` events"],
	"text table": ["a table in text", "read it with `format` csv"],
	parquet: ["a Parquet file", "read it with `format` parquet, or `format` meds"],
};

/** Refuses a file of another kind, and says how it is read. */
async function refuseOtherKind(name: string, format: Format, path: string): Promise<void> {
	const kind = await fileKind(path);
	if (!kind || !format.never.includes(kind)) return;
	const [text, remedy] = kindTexts[kind];
	throw new InputError(`${path} is ${text}; expected ${format.about}; ${remedy}`, {
		field: "format",
		value: name,
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
