import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { contentSha256, readJson } from "../../base/files/index.js";
import { random } from "../../base/random.js";
import { errorCode } from "../../base/system-errors.js";
import { isoDate } from "../../base/time.js";
import {
	contentHash,
	type EventFile,
	fileHash,
	openEventFile,
	type PatientColumns,
	type PeriodsOf,
	periodsByPatient,
	readPatients,
	readPeriods,
	recordPeriods,
	type SharedEvents,
} from "./dataset-files.js";
import { type History, historyOf, type Period } from "./history.js";
import { type Label, readLabels } from "./labels.js";
import {
	earliestVersion,
	fileNames,
	type Manifest,
	manifestName,
	manifestSchema,
	type Split,
	schemaVersion,
	schemaVersions,
	splitNames,
} from "./manifest.js";
import { deathRecord } from "./reading/rules.js";
import { fromTokens, type Vocabulary, vocabularySchema } from "./vocabulary.js";

/** An open dataset. Events stay on disk until they are read. */
export interface Dataset {
	readonly folder: string;
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
	/** The numbers of the patients in a split, in file order; `read` takes them. */
	patients(split: Split): Int32Array;
	idOf(patient: number): string;
	/** The length of a patient's history, birth event included, without reading it. */
	lengthOf(patient: number): number;
	birthEventsOf(patient: number): 0 | 1;
	/** In days; null if the patient is alive or death is unknown. */
	deathOf(patient: number): number | null;
	/** When the patient was observed, as in `History.observed`. */
	observedOf(patient: number): readonly Period[];
	read(patient: number): Promise<History>;
	/** What other threads need to read the same events without decoding them again. */
	readonly sharedEvents?: SharedEvents | undefined;
	histories(split: Split): AsyncIterable<History>;
	/** The labels of a task in all splits; `manifest.labels` lists the tasks. */
	labels(task: string): Promise<readonly Label[]>;
	/** Labels that are not of the dataset on disk: the file or folder of each such task. */
	readonly labelFiles?: Readonly<Record<string, string>> | undefined;
}

interface DatasetParts extends Pick<Dataset, "folder" | "manifest" | "vocabulary" | "labels"> {
	readonly patients: PatientColumns;
	readonly events: Pick<EventFile, "read"> & Partial<EventFile>;
	readonly periodsOf: PeriodsOf;
}

export function datasetOf(parts: DatasetParts): Dataset {
	const { folder, manifest, vocabulary, patients, events, periodsOf, labels } = parts;
	const numbers = Int32Array.from(patients.id.keys());
	const bySplit = new Map(
		splitNames.map((split) => [split, numbers.filter((at) => patients.split[at] === split)]),
	);
	const birthEventsOf = (patient: number) => (patients.birth[patient] == null ? 0 : 1);
	const deathOf = (patient: number) => patients.death[patient] ?? null;
	const countOf = (patient: number) => {
		const count = patients.count[patient];
		if (count === undefined)
			throw new RangeError(`patient number ${patient} of ${patients.id.length}`);
		return count;
	};
	const read = async (patient: number): Promise<History> => {
		const count = countOf(patient);
		const person = {
			id: patients.id[patient],
			sex: patients.sex[patient] ?? null,
			birth: patients.birth[patient] ?? null,
			death: deathOf(patient),
			observed: periodsOf(patient),
		};
		return historyOf(person, await events.read(patients.first[patient], count));
	};
	return withHistories({
		folder,
		manifest,
		vocabulary,
		patients: (split) => bySplit.get(split) as Int32Array,
		idOf: (patient) => patients.id[patient],
		lengthOf: (patient) => countOf(patient) + birthEventsOf(patient),
		birthEventsOf,
		deathOf,
		observedOf: periodsOf,
		read,
		sharedEvents: events.shared,
		labels,
	});
}

/** Adds the histories of the patients of each split. */
const withHistories = (dataset: Omit<Dataset, "histories">): Dataset => ({
	...dataset,
	async *histories(split) {
		for (const patient of dataset.patients(split)) yield dataset.read(patient);
	},
});

/** Memory for decoded events: 44 million of them. */
const defaultMemory = 512 * 1024 ** 2;

const again = "run prepare again";

const observationFile = "observation.parquet";
const holdsPeriods = ({ schemaVersion: version }: Manifest) => version !== earliestVersion;

async function readManifest(folder: string): Promise<Manifest> {
	const there = await stat(folder).catch(() => undefined);
	if (!there?.isDirectory())
		throw new InputError(
			`${folder} ${there ? "is a file" : "does not exist"}; expected a dataset folder as written by trajgpt prepare`,
		);
	if (await stat(join(folder, "run.json")).catch(() => undefined))
		throw new InputError(
			`${folder} is a run; expected a dataset folder as written by trajgpt prepare`,
		);
	const file = join(folder, manifestName);
	const has = (name: string) => existsSync(join(folder, name));
	if (!has(manifestName) && !fileNames.some(has))
		throw new InputError(
			`${folder} is not a dataset: it has no ${manifestName}; expected a dataset folder as written by trajgpt prepare`,
		);
	const { schemaVersion: version } = readJson(
		file,
		z.object({ schemaVersion: z.unknown().optional() }),
		again,
	);
	if (!schemaVersions.includes(version))
		throw new InputError(
			`${file} has schema version ${JSON.stringify(version) ?? "none"}; this trajgpt reads ${earliestVersion} to ${schemaVersion}; ${again}`,
		);
	const manifest = readJson(file, manifestSchema, again);
	if (manifest.schemaVersion !== schemaVersion) return manifest;
	// No field may have been edited: by the rules in them new records are read.
	const { sha256, ...content } = manifest;
	const hash = contentSha256(content);
	if (hash !== sha256)
		throw new InputError(
			`${file} was changed after prepare wrote it: its content has hash ${hash}, it says ${sha256}; restore it, or ${again}`,
		);
	return manifest;
}

/** Checks that every file is byte for byte the one that prepare wrote, so its content needs no further checks. */
async function checkFiles(folder: string, manifest: Manifest): Promise<void> {
	const { files } = manifest;
	for (const name of fileNames) {
		if (name === observationFile && !holdsPeriods(manifest)) continue;
		const file = join(folder, name);
		const hash = await fileHash(file).catch((error) => {
			const missing = errorCode(error) === "ENOENT";
			const what = missing ? "is missing" : `cannot be read (${error.message})`;
			throw new InputError(`${file} ${what}; ${again}`, { cause: error });
		});
		if (hash !== files[name])
			throw new InputError(
				`${file} is not the file that prepare wrote: it was changed, replaced or cut short; ${again}`,
			);
	}
}

export interface OpenOptions {
	/** Memory for decoded events in bytes. */
	readonly memory?: number;
	/** Of the same dataset in another thread, which has checked it. */
	readonly events?: SharedEvents | undefined;
}

/** Opens a dataset folder and checks it completely, unless another thread has; throws an `InputError` if something is wrong. */
export async function openDataset(folder: string, options: OpenOptions = {}): Promise<Dataset> {
	const manifest = await readManifest(folder);
	const { memory = defaultMemory, events: shared } = options;
	if (!shared) await checkFiles(folder, manifest);
	const { tokens } = readJson(join(folder, "vocabulary.json"), vocabularySchema, again);
	const patients = await readPatients(join(folder, "patients.parquet"));
	const periods = holdsPeriods(manifest)
		? await readPeriods(join(folder, observationFile))
		: undefined;
	const hash = shared
		? manifest.contentHash
		: contentHash(tokens, patients, manifest.eventsHash, periods);
	if (hash !== manifest.contentHash)
		throw new InputError(
			`${join(folder, manifestName)} was changed: the content has hash ${hash}, it says ${manifest.contentHash}; ${again}`,
		);
	const vocabulary = fromTokens(tokens);
	const events = await openEventFile(join(folder, "events.parquet"), memory, shared);
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	return datasetOf({
		folder,
		manifest,
		vocabulary,
		patients,
		events,
		periodsOf: periods
			? periodsByPatient(periods, patients.id.length)
			: await recordPeriods(patients, events, death),
		labels: (task) => readLabels(folder, manifest, task),
	});
}

const isKnown = (time: number, day: number) => Math.floor(time) <= day;

/** What was known of a patient at the end of a day: later records, observation and death are cut off. */
function historyBefore(history: History, day: number): History {
	const { tokens, times, observed, death } = history;
	let count = 0;
	while (count < times.length && isKnown(times[count], day)) count++;
	return {
		...history,
		tokens: tokens.subarray(0, count),
		times: times.subarray(0, count),
		observed: periodsBefore(observed, day),
		death: deathBefore(death, day),
	};
}

const periodsBefore = (observed: readonly Period[], day: number): readonly Period[] =>
	observed
		.filter(({ start }) => start <= day)
		.map(({ start, end }) => ({ start, end: Math.min(end, day) }));

const deathBefore = (death: number | null, day: number) =>
	death !== null && isKnown(death, day) ? death : null;

/**
 * A dataset as it was at the end of a day. Patients without a record by then are not in it. Every history is read once
 * to count its events. The vocabulary stays that of all records.
 */
export async function datasetBefore(dataset: Dataset, day: number): Promise<Dataset> {
	if (dataset.manifest.source.axis !== "dates")
		throw new InputError(
			`${dataset.folder} has no dates, so it cannot be cut at ${isoDate(day)}; leave out \`before\``,
			{ field: "before", value: day },
		);
	const lengths = new Map<number, number>();
	for (const split of splitNames)
		for (const patient of dataset.patients(split)) {
			const { tokens, birthEvents } = historyBefore(await dataset.read(patient), day);
			if (tokens.length > birthEvents) lengths.set(patient, tokens.length);
		}
	const patients = new Map(
		splitNames.map((split) => [split, dataset.patients(split).filter((one) => lengths.has(one))]),
	);
	return withHistories({
		...dataset,
		patients: (split) => patients.get(split) as Int32Array,
		lengthOf: (patient) => lengths.get(patient) ?? dataset.birthEventsOf(patient),
		deathOf: (patient) => deathBefore(dataset.deathOf(patient), day),
		observedOf: (patient) => periodsBefore(dataset.observedOf(patient), day),
		read: async (patient) => historyBefore(await dataset.read(patient), day),
		labels: async (task) => {
			throw new InputError(
				`the labels of ${task} may depend on records after ${isoDate(day)}, where the dataset is cut`,
				{ field: "task", value: task },
			);
		},
	});
}

/** The part of a dataset that a training sees. Plain data, so that another thread can open the same part. */
export interface DatasetView {
	/** The last day of records, observation and deaths. */
	readonly before?: number | undefined;
	/** How many of the training patients, drawn at random; fewer are always a part of more. */
	readonly trainPatients?: number | undefined;
}

/** A dataset with other patients in one split. */
export const withPatients = (dataset: Dataset, split: Split, patients: Int32Array): Dataset =>
	withHistories({
		...dataset,
		patients: (wanted) => (wanted === split ? patients : dataset.patients(wanted)),
	});

export async function datasetView(
	dataset: Dataset,
	{ before, trainPatients }: DatasetView,
): Promise<Dataset> {
	const seen = before === undefined ? dataset : await datasetBefore(dataset, before);
	if (trainPatients === undefined) return seen;
	const all = seen.patients("train");
	if (trainPatients > all.length)
		throw new InputError(
			`\`trainPatients\` ${trainPatients}: ${dataset.folder} has ${all.length} training patients; give at most as many`,
			{ field: "trainPatients", value: trainPatients },
		);
	const drawn = random(0)
		.fork("training patients")
		.shuffle([...all]);
	return withPatients(seen, "train", Int32Array.from(drawn.slice(0, trainPatients)).sort());
}
