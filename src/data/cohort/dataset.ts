import type { EventFile, SharedEvents } from "./event-file.js";
import { type History, historyOf, type Period } from "./history.js";
import type { Label } from "./labels.js";
import type { Manifest, Split } from "./manifest.js";
import { splitNames } from "./manifest.js";
import type { PatientColumns } from "./patients.js";
import type { PeriodsOf } from "./periods.js";
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
			id: patients.id[patient] as string,
			sex: patients.sex[patient] ?? null,
			birth: patients.birth[patient] ?? null,
			death: deathOf(patient),
			observed: periodsOf(patient),
		};
		return historyOf(person, await events.read(patients.first[patient] as number, count));
	};
	const patientsOf = (split: Split) => bySplit.get(split) as Int32Array;
	return {
		folder,
		manifest,
		vocabulary,
		patients: patientsOf,
		idOf: (patient) => patients.id[patient] as string,
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
