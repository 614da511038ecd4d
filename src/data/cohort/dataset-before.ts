import { InputError } from "../../base/errors.js";
import { isoDate } from "../../base/time.js";
import type { Dataset } from "./dataset.js";
import type { History, Period } from "./history.js";
import { splitNames } from "./manifest.js";

const isKnown = (time: number, day: number) => Math.floor(time) <= day;

/** What was known of a patient at the end of a day: later records, observation and death are cut off. */
function historyBefore(history: History, day: number): History {
	const { tokens, times, observed, death } = history;
	let count = 0;
	while (count < times.length && isKnown(times[count] as number, day)) count++;
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
