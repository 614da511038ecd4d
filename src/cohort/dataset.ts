import type { Sex } from "../records/rows.js";
import type { DatasetColumns } from "./columns.js";
import type { Manifest, Split } from "./manifest.js";
import { splitNames } from "./manifest.js";
import type { Vocabulary } from "./vocabulary.js";
import { birthToken } from "./vocabulary.js";

/** The events of one patient, by time. */
export interface History {
	readonly id: string;
	readonly sex: Sex | null;
	readonly tokens: Int32Array;
	/** In time units. */
	readonly times: Float64Array;
	/** 1 when the history begins with a birth event (never a target), else 0. */
	readonly birthEvents: 0 | 1;
}

/** A dataset, opened. Nothing here says that its events are in memory. */
export interface Dataset {
	readonly folder: string;
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
	/** The patients of a split, in file order: numbers to `read` by. */
	patients(split: Split): Int32Array;
	/** How long the history of a patient is, birth event included, without reading it. */
	lengthOf(patient: number): number;
	birthEventsOf(patient: number): 0 | 1;
	read(patient: number): Promise<History>;
	histories(split: Split): AsyncIterable<History>;
}

/** A dataset whose columns are held in memory: 12 bytes an event. */
export function inMemoryDataset(
	folder: string,
	manifest: Manifest,
	vocabulary: Vocabulary,
	{ patients, events }: DatasetColumns,
): Dataset {
	const numbers = Int32Array.from(patients.id.keys());
	const bySplit = new Map(
		splitNames.map((split) => [split, numbers.filter((at) => patients.split[at] === split)]),
	);
	const birthEventsOf = (patient: number) => (patients.birth[patient] == null ? 0 : 1);
	const lengthOf = (patient: number) => {
		const count = patients.count[patient];
		if (count === undefined)
			throw new RangeError(`patient number ${patient} of ${patients.id.length}`);
		return count + birthEventsOf(patient);
	};
	const read = async (patient: number): Promise<History> => {
		const birthEvents = birthEventsOf(patient);
		const length = lengthOf(patient);
		const first = patients.first[patient] as number;
		const end = first + length - birthEvents;
		const sex = patients.sex[patient] ?? null;
		const tokens = new Int32Array(length);
		const times = new Float64Array(length);
		if (birthEvents) {
			tokens[0] = birthToken(sex);
			times[0] = patients.birth[patient] as number;
		}
		tokens.set(events.token.subarray(first, end), birthEvents);
		times.set(events.time.subarray(first, end), birthEvents);
		return { id: patients.id[patient] as string, sex, tokens, times, birthEvents };
	};
	const patientsOf = (split: Split) => bySplit.get(split) as Int32Array;
	return {
		folder,
		manifest,
		vocabulary,
		patients: patientsOf,
		lengthOf,
		birthEventsOf,
		read,
		async *histories(split) {
			for (const patient of patientsOf(split)) yield read(patient);
		},
	};
}
