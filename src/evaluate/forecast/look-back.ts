import type { Dataset, Split } from "../../cohort/index.js";

/** A history cut after its first events, and what came then. */
export interface LookedUp {
	/** The dataset's number of the patient. */
	readonly patient: number;
	/** What is known: the birth event, where there is one, and the first events. */
	readonly known: { readonly tokens: Int32Array; readonly times: Float64Array };
	readonly later: { readonly tokens: Int32Array; readonly times: Float64Array };
}

/** How many events after its look-up window a patient is asked about; 0 for one who has none. */
function laterEvents(dataset: Dataset, patient: number, lookup: number, ahead: number): number {
	const events = dataset.lengthOf(patient) - dataset.birthEventsOf(patient);
	return Math.min(ahead, Math.max(0, events - lookup));
}

/** The patients of a split that have events after the look-up window. */
export function forecastPatients(dataset: Dataset, split: Split, lookup: number): Int32Array {
	return dataset.patients(split).filter((patient) => laterEvents(dataset, patient, lookup, 1) > 0);
}

export async function lookBack(
	dataset: Dataset,
	patient: number,
	lookup: number,
	ahead: number,
): Promise<LookedUp> {
	const { tokens, times, birthEvents } = await dataset.read(patient);
	const cut = birthEvents + lookup;
	const piece = (from: number, to: number) => ({
		tokens: tokens.subarray(from, to),
		times: times.subarray(from, to),
	});
	return { patient, known: piece(0, cut), later: piece(cut, cut + ahead) };
}
