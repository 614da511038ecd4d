import type { Dataset, Split } from "../../cohort/index.js";

/** A history split after its look-up window. */
export interface SplitHistory {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** The look-up window: the birth event, if there is one, and the first events. */
	readonly known: { readonly tokens: Int32Array; readonly times: Float64Array };
	readonly later: { readonly tokens: Int32Array; readonly times: Float64Array };
}

/** The number of events to predict after the look-up window; 0 if there are none. */
function laterEvents(dataset: Dataset, patient: number, lookup: number, ahead: number): number {
	const events = dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
	return Math.min(ahead, Math.max(0, events - lookup));
}

/** The patients of a split with events after the look-up window. */
export function forecastPatients(dataset: Dataset, split: Split, lookup: number): Int32Array {
	return dataset.patients(split).filter((patient) => laterEvents(dataset, patient, lookup, 1) > 0);
}

export async function splitHistory(
	dataset: Dataset,
	patient: number,
	lookup: number,
	ahead: number,
): Promise<SplitHistory> {
	const { tokens, times, birthEvents } = await dataset.read(patient);
	const cut = birthEvents + lookup;
	const piece = (from: number, to: number) => ({
		tokens: tokens.subarray(from, to),
		times: times.subarray(from, to),
	});
	return { patient, known: piece(0, cut), later: piece(cut, cut + ahead) };
}
