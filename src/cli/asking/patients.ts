import { stat } from "node:fs/promises";
import { InputError } from "../../base/errors.js";
import type { TimeAxis } from "../../base/time.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../../codes/index.js";
import {
	type Dataset,
	mapOfDataset,
	type NewPatient,
	newPatients,
	splitNames,
	type UnknownCodes,
} from "../../cohort/index.js";
import type { RecordSource } from "../../records/index.js";
import { openRunDataset, type Trained } from "../../train/index.js";
import { openSource } from "../prepare/formats.js";
import { nearest } from "./nearest.js";
import { type AskingOptions, fileSettings, firstFileOption, inOwnWords } from "./options.js";

/** The patients a command asks about. */
export interface AskedPatients {
	readonly axis: TimeAxis;
	readonly patients: readonly NewPatient[];
	readonly unknown: UnknownCodes;
	readonly notes: readonly string[];
	/** The dataset's, where it is at hand. */
	readonly map: CodeMap | undefined;
}

const nothingUnknown: UnknownCodes = { codes: 0, records: 0, top: [] };

/** From the files, or from the run's own dataset where none is given. */
export async function askedPatients(
	folder: string,
	trained: Trained,
	options: AskingOptions,
): Promise<AskedPatients> {
	const { manifest } = trained;
	const settings = fileSettings(options);
	if (options.input === undefined && settings.db === undefined) {
		const stray = options.format ? "--format" : firstFileOption(options);
		if (stray) throw new InputError(`${stray} is for a file of records; name it with --input FILE`);
		const dataset = await openRunDataset(folder, trained.run, options.dataset);
		const { patient, split } = await datasetPatient(dataset, options.patient);
		const notes = [
			`${patient.id} is of the run's own dataset, ${split === "train" ? "among those the model learned from" : `split ${split}`}`,
		];
		const { axis } = manifest.source;
		const isFile = ![null, builtInMap().source].includes(manifest.codes.map);
		const map = isFile && !options.phecodeMap ? undefined : await givenMap(trained, options);
		return { patients: [patient], unknown: nothingUnknown, notes, map, axis };
	}
	const map = await givenMap(trained, options);
	const source = await openInput(options, settings);
	const { memory, threads } = options;
	const { manifest: m, vocabulary } = trained;
	const ownMap = options.phecodeMap === undefined ? undefined : map;
	const read = await explained(
		newPatients(source, {
			manifest: m,
			vocabulary,
			map: ownMap,
			only: options.patient,
			memory,
			threads,
		}),
	);
	const { patients, unknown, axis } = read;
	const { patient: only } = options;
	if (only !== undefined && patients.length === 0)
		throw unknownPatient(only, read.ids, source.path);
	const notes =
		axis === manifest.source.axis
			? read.notes
			: [
					...read.notes,
					`times are ${axis} here and ${manifest.source.axis} in the run's dataset: what lies between events counts, so they are answered`,
				];
	return { patients, unknown, notes, map, axis };
}

/** The map of the dataset; a file of the user's is read as prepare read it. */
async function givenMap({ manifest }: Trained, options: AskingOptions): Promise<CodeMap> {
	const { phecodeMap, keepIgnored } = options;
	if (keepIgnored && !phecodeMap) throw new InputError("--keep-ignored needs --map FILE");
	if (phecodeMap === undefined) return mapOfDataset(manifest);
	return mapOfDataset(
		manifest,
		await readPheCodeMap(phecodeMap, {
			level: manifest.codes.level ?? "integer",
			ignore: keepIgnored ? "keep" : "drop",
		}),
	);
}

const endings: readonly (readonly [ending: RegExp, format: string])[] = [
	[/\.(json|ndjson)$/i, "fhir"],
	[/\.jsonl$/i, "events"],
	[/\.(csv|tsv)$/i, "csv"],
	[/\.(parquet|parq|pq)$/i, "parquet"],
];

async function formatOf({ input, format, db }: AskingOptions): Promise<string> {
	if (format) return format;
	if (db !== undefined) return "omop";
	const file = input?.[0] ?? "";
	const there = await stat(file).catch(() => undefined);
	const known = endings.find(([ending]) => ending.test(file.replace(/\.gz$/i, "")))?.[1];
	if (known && !there?.isDirectory()) return known;
	throw new InputError(
		`${file} ${there?.isDirectory() ? "is a folder" : "does not tell by its name what it holds"}; say so with --format: csv, parquet, meds, omop, fhir or events`,
	);
}

async function openInput(
	options: AskingOptions,
	settings: Record<string, unknown>,
): Promise<RecordSource> {
	const format = await formatOf(options);
	return explained(openSource(format, options.input ?? [], settings));
}

async function explained<T>(work: Promise<T>): Promise<T> {
	try {
		return await work;
	} catch (error) {
		if (!(error instanceof InputError)) throw error;
		throw new InputError(inOwnWords(error.message), { cause: error });
	}
}

function unknownPatient(id: string, ids: readonly string[], where: string): InputError {
	const near = nearest(id, ids, 5);
	const some =
		near.length > 0 ? `near it ${near.join(", ")}` : `such as ${ids.slice(0, 5).join(", ")}`;
	return new InputError(
		`${where} has no patient "${id}"; it has ${ids.length.toLocaleString("en-US")}, ${some}`,
	);
}

async function datasetPatient(dataset: Dataset, id: string | undefined) {
	const ids = splitNames.flatMap((split) =>
		Array.from(dataset.patients(split), (number) => ({ id: dataset.idOf(number), number, split })),
	);
	if (id === undefined) {
		const some = [...dataset.patients("test")].slice(0, 3).map((number) => dataset.idOf(number));
		throw new InputError(
			`whom to ask about? give records of new patients with --input FILE, or name a patient of the run's dataset with --patient${some.length > 0 ? `, such as ${some.join(", ")}` : ""}`,
		);
	}
	const found = ids.find((one) => one.id === id);
	if (!found)
		throw unknownPatient(
			id,
			ids.map((one) => one.id),
			dataset.folder,
		);
	const history = await dataset.read(found.number);
	const patient: NewPatient = {
		id,
		sex: history.sex,
		birth: history.birthEvents ? (history.times[0] as number) : null,
		death: dataset.deathOf(found.number),
		lastRecord:
			history.tokens.length > history.birthEvents ? (history.times.at(-1) as number) : null,
		history,
	};
	return { patient, split: found.split };
}
