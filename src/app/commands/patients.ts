import { stat } from "node:fs/promises";
import type { z } from "zod";
import { InputError, withinOption } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../../data/codes/index.js";
import {
	type Dataset,
	type Manifest,
	mapOfDataset,
	type NewPatient,
	newPatients,
	splitNames,
	type UnknownCodes,
} from "../../data/cohort/index.js";
import {
	openRecords,
	type ReaderOptions,
	recordFields,
	recordFormats,
} from "../../data/records/index.js";
import { openRunDataset, type Trained } from "../../model/train/index.js";
import type { QueriedPatients } from "../../predict/trained/open.js";
import {
	byteSize,
	choice,
	codeMapFields,
	computeFields,
	datasetField,
	type Fields,
	flag,
	inGroup,
	type LibraryOptions,
	option,
	several,
	threads,
	type Values,
} from "./fields.js";
import { type Io, tell } from "./io.js";

/** Options of prepare whose flag has another meaning here, with their name here. */
const renamed: Readonly<Record<string, string>> = {
	patient: "patientColumn",
	time: "timeColumn",
	code: "codeColumn",
};

/** Options on record files: prepare's name of each and, unless it is on splits, its name here. */
const readerNames = Object.keys(recordFields)
	.filter((name) => !["train", "valid", "test", "ignoreSplits"].includes(name))
	.map((name) => ({ name, here: renamed[name] ?? name }));

const readerFields = Object.fromEntries(
	readerNames.map(({ name, here }) => {
		const field: z.ZodType = (recordFields as Fields)[name] as z.ZodType;
		const { description = "", group, ...shown } = field.meta() as Record<string, string>;
		return [
			here,
			field.meta({
				...shown,
				description: description.replace("SOURCE", "--input"),
				group: group?.replace("--from", "--format"),
			}),
		];
	}),
) as Pick<typeof recordFields, "db">;

/** The options that select patients, and how to compute. */
export const patientFields = {
	input: several("file...", "records of new patients (default: the patients of the run's dataset)"),
	threads: threads.optional().describe("number of threads (default: as in training)"),
	...computeFields(),
	...inGroup("Input:", {
		format: choice(
			"format",
			"format of the records (default: by file extension)",
			Object.keys(recordFormats),
		),
		skipBad: flag(
			"leave out bad rows, and patients without a record whose code the model knows, which nothing is predicted for; without it they are refused",
		),
		dataset: datasetField,
		...codeMapFields,
		memory: option("size", "memory limit for reading records", byteSize.default(2 * 1024 ** 3), {
			defaultText: "2GB",
		}),
	}),
	...readerFields,
};

export const patientFlags: Readonly<Record<string, string>> = {
	"records.source": "--input",
	...Object.fromEntries(
		Object.keys(renamed).map((name) => [`records.${name}`, `--${name}-column`]),
	),
};

/** What the user chose; a patient is named by `--patient`, which some commands describe in words of their own. */
export type PatientFlags = Values<typeof patientFields> & { readonly patient?: string };

/** The flags, with those on record files under prepare's names. */
function withRecords(flags: PatientFlags) {
	const values: Readonly<Record<string, unknown>> = { ...flags };
	const set = readerNames.filter(({ here }) => values[here] !== undefined);
	const records: ReaderOptions = Object.fromEntries(
		set.map(({ name, here }) => [name, values[here]]),
	);
	return { ...flags, records };
}

type PatientOptions = ReturnType<typeof withRecords>;

export async function openQueried(io: Io, trained: Trained, flags: PatientFlags) {
	const queried = await openPatients(trained, withRecords(flags));
	tell(io, { notes: queried.notes });
	return queried;
}

const nothingUnknown: UnknownCodes = { codes: 0, records: 0, top: [] };

/** Whether records of new patients are given. Without them, options on records are refused. */
export function hasRecords(flags: PatientFlags): boolean {
	const { input, format, skipBad, records } = withRecords(flags);
	if (input !== undefined || records.db !== undefined) return true;
	const [misplaced] = [
		...(format ? ["format"] : []),
		...(skipBad ? ["skipBad"] : []),
		...Object.keys(records).map((name) => `records.${name}`),
	];
	if (misplaced)
		throw new InputError(`\`${misplaced}\` is for a file of records; name it with \`input\` FILE`, {
			field: misplaced,
		});
	return false;
}

/** Reads patients from files, or one from the run's dataset if no file is given. */
async function openPatients(trained: Trained, options: PatientOptions): Promise<QueriedPatients> {
	const { manifest, vocabulary } = trained;
	const { patient: only, skipBad = false, memory, threads } = options;
	if (!hasRecords(options)) {
		const dataset = await openRunDataset(trained.folder, trained.run, options.dataset);
		const { patient, split } = await datasetPatient(dataset, only);
		const notes = [
			`${patient.id} is in the run's dataset, ${split === "train" ? "among the patients the model was trained on" : `split ${split}`}`,
		];
		const map = await codeMapOf(manifest, options);
		const { axis } = manifest.source;
		return { patients: [patient], unknown: nothingUnknown, notes, map, axis };
	}
	const map = await requiredCodeMap(manifest, options);
	const format = await formatOf(options);
	// A model that knows laboratory results reads those of new patients.
	const measurements =
		["fhir", "omop"].includes(format) &&
		vocabulary.tokens.some(({ kind }) => kind === "laboratory");
	const source = await withinOption(
		"records",
		openRecords(format, options.input ?? [], {
			...(measurements && { measurements }),
			...options.records,
		}),
	);
	const read = await withinOption(
		"records",
		newPatients(source, {
			manifest,
			vocabulary,
			only,
			skipBad,
			memory,
			threads,
			map: options.phecodeMap === undefined ? undefined : map,
		}),
	);
	const { patients, unknown, axis } = read;
	if (only !== undefined && patients.length === 0)
		throw unknownPatient(only, read.ids, source.path);
	const notes =
		axis === manifest.source.axis
			? read.notes
			: [
					...read.notes,
					`times are ${axis} here and ${manifest.source.axis} in the run's dataset; predictions depend on the time between events only`,
				];
	return { patients, unknown, notes, map, axis };
}

const endings: readonly (readonly [ending: RegExp, format: string])[] = [
	[/\.(json|ndjson)$/i, "fhir"],
	[/\.jsonl$/i, "events"],
	[/\.(csv|tsv)$/i, "csv"],
	[/\.(parquet|parq|pq)$/i, "parquet"],
];

async function formatOf({ input, format, records }: PatientOptions): Promise<string> {
	if (format) return format;
	if (records.db !== undefined) return "omop";
	const file = input?.[0] ?? "";
	const status = await stat(file).catch(() => undefined);
	const known = endings.find(([ending]) => ending.test(file.replace(/\.gz$/i, "")))?.[1];
	if (known && !status?.isDirectory()) return known;
	throw new InputError(
		`${file} ${status?.isDirectory() ? "is a folder" : "has no known extension"}; name its format with \`format\`: csv, parquet, meds, omop, fhir or events`,
		{ field: "format" },
	);
}

/** The number of letters to add, remove or replace to turn one text into the other. */
function editDistance(a: string, b: string): number {
	let above = Array.from({ length: b.length + 1 }, (_, at) => at);
	for (let i = 1; i <= a.length; i++) {
		const row = [i];
		for (let j = 1; j <= b.length; j++) {
			const replaced = (above[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
			row.push(Math.min(replaced, (above[j] as number) + 1, (row[j - 1] as number) + 1));
		}
		above = row;
	}
	return above[b.length] as number;
}

/** Names the ids at most two edits away, the nearest first, or else any. */
function unknownPatient(id: string, ids: readonly string[], where: string): InputError {
	const near = ids
		.filter((other) => Math.abs(other.length - id.length) <= 2)
		.map((other) => ({ other, edits: editDistance(id.toLowerCase(), other.toLowerCase()) }))
		.filter(({ edits }) => edits <= 2)
		.sort((a, b) => a.edits - b.edits)
		.map(({ other }) => other);
	const some = near.length > 0 ? "with similar ids" : "such as";
	const named = (near.length > 0 ? near : ids).slice(0, 5).join(", ");
	return new InputError(
		`${where} has no patient "${id}"; it has ${thousands(ids.length)}, ${some} ${named}`,
	);
}

async function datasetPatient(dataset: Dataset, id: string | undefined) {
	const people = splitNames.flatMap((split) =>
		Array.from(dataset.patients(split), (number) => ({ id: dataset.idOf(number), number, split })),
	);
	if (id === undefined) {
		const some = [...dataset.patients("test")].slice(0, 3).map((number) => dataset.idOf(number));
		throw new InputError(
			`no patient is named; give records of new patients with \`input\` FILE, or name a patient of the run's dataset with \`patient\`${some.length > 0 ? `, such as ${some.join(", ")}` : ""}`,
		);
	}
	const person = people.find((one) => one.id === id);
	const ids = people.map((one) => one.id);
	if (!person) throw unknownPatient(id, ids, dataset.folder);
	const history = await dataset.read(person.number);
	const patient: NewPatient = {
		id,
		sex: history.sex,
		birth: history.birthEvents ? (history.times[0] as number) : null,
		death: dataset.deathOf(person.number),
		lastRecord:
			history.tokens.length > history.birthEvents ? (history.times.at(-1) as number) : null,
		history,
	};
	return { patient, split: person.split };
}

/** The code map file that a dataset was prepared with, if any, and as given to prepare with that map. */
export type CodeMapOptions = LibraryOptions<typeof codeMapFields>;

/** The code map of a dataset; undefined if it was a file and none is given. */
export async function codeMapOf(
	manifest: Manifest,
	options: CodeMapOptions,
): Promise<CodeMap | undefined> {
	const map = await mapInFile(options, manifest.codes.level ?? "integer");
	const isFile = ![null, builtInMap().source].includes(manifest.codes.map);
	return map === undefined && isFile ? undefined : mapOfDataset(manifest, map);
}

/** The same, refused if it was a file and none is given: without it, codes of new patients would go unread. */
export const requiredCodeMap = async (
	manifest: Manifest,
	options: CodeMapOptions,
): Promise<CodeMap> => (await codeMapOf(manifest, options)) ?? mapOfDataset(manifest);

export async function mapInFile(
	{ phecodeMap, keepIgnored }: CodeMapOptions,
	level: "integer" | "full",
) {
	if (phecodeMap !== undefined)
		return readPheCodeMap(phecodeMap, { level, ignore: keepIgnored ? "keep" : "drop" });
	if (keepIgnored)
		throw new InputError("`keepIgnored` needs `phecodeMap` FILE", { field: "keepIgnored" });
	return undefined;
}
