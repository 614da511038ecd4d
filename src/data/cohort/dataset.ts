import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { isoDate } from "../../base/time.js";
import type { EventFile, PatientColumns, PeriodsOf, SharedEvents } from "./dataset-files.js";
import { type History, historyOf, type Period } from "./history.js";
import type { Label } from "./labels.js";
import { type Manifest, type Split, splitNames } from "./manifest.js";
import type { Vocabulary } from "./vocabulary.js";

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
	const patientsOf = (split: Split) => bySplit.get(split) as Int32Array;
	return {
		folder,
		manifest,
		vocabulary,
		patients: patientsOf,
		idOf: (patient) => patients.id[patient],
		lengthOf: (patient) => countOf(patient) + birthEventsOf(patient),
		birthEventsOf,
		deathOf,
		observedOf: periodsOf,
		read,
		sharedEvents: events.shared,
		async *histories(split) {
			for (const patient of patientsOf(split)) yield read(patient);
		},
		labels,
	};
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
	const read = async (patient: number) => historyBefore(await dataset.read(patient), day);
	return {
		...dataset,
		patients: (split) => patients.get(split) as Int32Array,
		lengthOf: (patient) => lengths.get(patient) ?? dataset.birthEventsOf(patient),
		deathOf: (patient) => deathBefore(dataset.deathOf(patient), day),
		observedOf: (patient) => periodsBefore(dataset.observedOf(patient), day),
		read,
		async *histories(split) {
			for (const patient of patients.get(split) as Int32Array) yield read(patient);
		},
		labels: async (task) => {
			throw new InputError(
				`the labels of ${task} may depend on records after ${isoDate(day)}, where the dataset is cut`,
				{ field: "task", value: task },
			);
		},
	};
}

/** The part of a dataset that a training sees. Plain data, so that another thread can open the same part. */
export interface DatasetView {
	/** The last day of records, observation and deaths. */
	readonly before?: number | undefined;
	/** How many of the training patients, drawn at random; fewer are always a part of more. */
	readonly trainPatients?: number | undefined;
}

/** A dataset with other patients in one split. */
export const withPatients = (dataset: Dataset, split: Split, patients: Int32Array): Dataset => ({
	...dataset,
	patients: (wanted) => (wanted === split ? patients : dataset.patients(wanted)),
	async *histories(wanted) {
		for (const patient of wanted === split ? patients : dataset.patients(wanted))
			yield dataset.read(patient);
	},
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
