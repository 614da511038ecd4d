import { stat } from "node:fs/promises";
import { z } from "zod";
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
import { openRunDataset, type Trained } from "../../model/train/index.js";
import type { QueriedPatients } from "../../predict/trained/open.js";
import {
	byteSize,
	codeMapFields,
	computeFields,
	datasetField,
	type Fields,
	flag,
	inGroup,
	option,
	texts,
	threads,
	type Values,
} from "./fields.js";
import type { Io } from "./io.js";
import { openRun } from "./open-run.js";
import { openRecords, type ReaderOptions, recordFields, recordFormats } from "./records.js";

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
	input: option(
		"file...",
		"records of new patients (default: the patients of the run's dataset)",
		texts.optional(),
	),
	threads: option("n", "number of threads (default: as in training)", threads.optional()),
	...computeFields(),
	...inGroup("Input:", {
		format: option(
			"format",
			"format of the records (default: by file extension)",
			z.enum(Object.keys(recordFormats)).optional(),
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

/** The flags of library options on patients. */
export const patientFlags: Readonly<Record<string, string>> = {
	"records.source": "--input",
	...Object.fromEntries(
		Object.keys(renamed).map((name) => [`records.${name}`, `--${name}-column`]),
	),
};

/** What the user chose; a patient is named by `--patient`, which some commands describe in words of their own. */
export type PatientFlags = Values<typeof patientFields> & { readonly patient?: string };

/** Opens a run and the selected patients; notes and warnings go to standard error. */
export async function openRunAndPatients(
	io: Io,
	folder: string,
	flags: PatientFlags,
): Promise<{ readonly trained: Trained; readonly queried: QueriedPatients }> {
	const trained = openRun(io, folder);
	return { trained, queried: await openQueried(io, trained, flags) };
}

/** Opens the selected patients; notes go to standard error. */
export async function openQueried(
	io: Io,
	trained: Trained,
	flags: PatientFlags,
): Promise<QueriedPatients> {
	const queried = await openPatients(trained, patientOptions(flags));
	for (const note of queried.notes) io.stderr.write(`note: ${note}\n`);
	return queried;
}

/** Refuses options on records where none are read. */
export const refuseRecordOptions = (flags: PatientFlags): void => {
	hasRecords(patientOptions(flags));
};

/** Opens the patients of --input, if it is given. */
export const openNewPatients = async (
	io: Io,
	trained: Trained,
	flags: PatientFlags,
): Promise<QueriedPatients | undefined> =>
	hasRecords(patientOptions(flags)) ? openQueried(io, trained, flags) : undefined;

/** The options, with those on record files under prepare's names. */
function patientOptions(flags: PatientFlags): PatientOptions {
	const values: Readonly<Record<string, unknown>> = { ...flags };
	const set = readerNames.filter(({ here }) => values[here] !== undefined);
	return {
		...flags,
		records: Object.fromEntries(set.map(({ name, here }) => [name, values[here]])),
	};
}

/** Which patients to predict for. */
export interface PatientOptions extends CodeMapOptions {
	/** Records of new patients. Default: the run's dataset. */
	readonly input?: readonly string[] | undefined;
	/** Format of the records. Default: by file extension. */
	readonly format?: string | undefined;
	/** Reader options of the format. */
	readonly records?: ReaderOptions | undefined;
	/** Whether bad rows, and patients without a record that the model knows, are left out of `input` instead of refused. */
	readonly skipBad?: boolean | undefined;
	/** One patient instead of all; required for the run's dataset. */
	readonly patient?: string | undefined;
	/** The run's dataset, if it was moved. */
	readonly dataset?: string | undefined;
	/** Memory limit for reading, in bytes. */
	readonly memory: number;
	readonly threads?: number | undefined;
}

const nothingUnknown: UnknownCodes = { codes: 0, records: 0, top: [] };

/** Whether records of new patients are given. Without them, options on records are refused. */
function hasRecords({ input, format, skipBad, records = {} }: PatientOptions): boolean {
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

/** Reader options for a run: a model that knows laboratory results reads those of new patients. */
const readAs = (
	{ vocabulary }: Trained,
	format: string,
	records: ReaderOptions = {},
): ReaderOptions =>
	["fhir", "omop"].includes(format) && vocabulary.tokens.some(({ kind }) => kind === "laboratory")
		? { measurements: true, ...records }
		: records;

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
	const source = await withinOption(
		"records",
		openRecords(format, options.input ?? [], readAs(trained, format, options.records)),
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
	if (records?.db !== undefined) return "omop";
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

/** The texts at most `farthest` edits away, the nearest first. */
function nearest(text: string, among: readonly string[], most: number, farthest = 2): string[] {
	return among
		.filter((other) => Math.abs(other.length - text.length) <= farthest)
		.map((other) => ({ other, edits: editDistance(text.toLowerCase(), other.toLowerCase()) }))
		.filter(({ edits }) => edits <= farthest)
		.sort((a, b) => a.edits - b.edits)
		.slice(0, most)
		.map(({ other }) => other);
}

function unknownPatient(id: string, ids: readonly string[], where: string): InputError {
	const near = nearest(id, ids, 5);
	const some =
		near.length > 0
			? `with similar ids ${near.join(", ")}`
			: `such as ${ids.slice(0, 5).join(", ")}`;
	return new InputError(
		`${where} has no patient "${id}"; it has ${thousands(ids.length)}, ${some}`,
	);
}

async function datasetPatient(dataset: Dataset, id: string | undefined) {
	const ids = splitNames.flatMap((split) =>
		Array.from(dataset.patients(split), (number) => ({ id: dataset.idOf(number), number, split })),
	);
	if (id === undefined) {
		const some = [...dataset.patients("test")].slice(0, 3).map((number) => dataset.idOf(number));
		throw new InputError(
			`no patient is named; give records of new patients with \`input\` FILE, or name a patient of the run's dataset with \`patient\`${some.length > 0 ? `, such as ${some.join(", ")}` : ""}`,
		);
	}
	const entry = ids.find((one) => one.id === id);
	if (!entry)
		throw unknownPatient(
			id,
			ids.map((one) => one.id),
			dataset.folder,
		);
	const history = await dataset.read(entry.number);
	const patient: NewPatient = {
		id,
		sex: history.sex,
		birth: history.birthEvents ? (history.times[0] as number) : null,
		death: dataset.deathOf(entry.number),
		lastRecord:
			history.tokens.length > history.birthEvents ? (history.times.at(-1) as number) : null,
		history,
	};
	return { patient, split: entry.split };
}

/** The code map file that a dataset was prepared with, if any. */
export interface CodeMapOptions {
	readonly phecodeMap?: string | undefined;
	/** As given to prepare with that map. */
	readonly keepIgnored?: boolean | undefined;
}

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

/** The code map in a file; undefined if none is given. */
export async function mapInFile(
	{ phecodeMap, keepIgnored }: CodeMapOptions,
	level: "integer" | "full",
): Promise<CodeMap | undefined> {
	if (phecodeMap !== undefined)
		return readPheCodeMap(phecodeMap, { level, ignore: keepIgnored ? "keep" : "drop" });
	if (keepIgnored)
		throw new InputError("`keepIgnored` needs `phecodeMap` FILE", { field: "keepIgnored" });
	return undefined;
}
