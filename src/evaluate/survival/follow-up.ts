import { InputError } from "../../base/errors.js";
import { checkProbabilities } from "../metrics.js";
import { ascendingOrder, pick } from "../order-statistics.js";

/** What ended the time at risk. */
export const censored = 0;
export const onset = 1;
export const death = 2;

/**
 * Patients who are at risk of the onset of a code on their index date. An entry is one patient and one code, so
 * a patient has one entry, or one per code where codes are pooled.
 */
export interface FollowUp {
	/**
	 * Days from the index date to onset, death or the end of observation, whichever is first. Do not cut it at a
	 * horizon: an entry that is censored on the day of the horizon counts as censored before it.
	 */
	readonly time: ArrayLike<number>;
	/** 0 censored, 1 onset, 2 death. On equal days onset precedes death, and death precedes censoring. */
	readonly status: ArrayLike<number>;
	/** The patient of each entry, as an index into the cohort. Without it, entry i is patient i. */
	readonly patient?: ArrayLike<number>;
}

/** Entries by day; on equal days onset, death, censoring. */
export interface SortedFollowUp {
	/** The place of each entry in the arrays that were sorted. Predictions stay in that order. */
	readonly entry: Int32Array;
	readonly time: Float64Array;
	readonly status: Uint8Array;
	readonly patient: Int32Array;
	/** The length of the arrays that were sorted, and of predictions. */
	readonly entries: number;
}

/**
 * How often each patient of the cohort counts: 1 if left out, the number of copies in a bootstrap draw, or 0 to
 * leave a patient out.
 */
export type PatientWeights = ArrayLike<number>;

/** The place of each status on one day. */
const placeOf = [2, 0, 1] as const;

/** Sorts once, for every curve and statistic of these entries. */
export function sortFollowUp({ time, status, patient }: FollowUp): SortedFollowUp {
	const entries = time.length;
	if (status.length !== entries || (patient && patient.length !== entries))
		throw new InputError(
			`follow-up: ${entries} times, ${status.length} statuses and ${patient?.length ?? entries} patients; ` +
				"expected one of each per entry",
		);
	for (let i = 0; i < entries; i++) {
		if (!(time[i] >= 0 && time[i] < Number.POSITIVE_INFINITY))
			throw new InputError(
				`follow-up: time ${i} is ${time[i]}; expected days after the index date, at least 0`,
				{ field: "time", value: time[i] },
			);
		if (placeOf[status[i]] === undefined)
			throw new InputError(
				`follow-up: status ${i} is ${status[i]}; expected 0 (censored), 1 (onset) or 2 (death)`,
				{ field: "status", value: status[i] },
			);
	}
	const statusOrder = new Uint8Array(entries);
	for (let i = 0; i < entries; i++) statusOrder[i] = placeOf[status[i]];
	const entry = ascendingOrder(time, ascendingOrder(statusOrder));
	return {
		entry,
		time: pick(time, entry),
		status: new Uint8Array(pick(status, entry)),
		patient: patient ? new Int32Array(pick(patient, entry)) : entry,
		entries,
	};
}

/**
 * A subgroup: the entries for which `keep` is true. Predictions for all entries remain valid for it.
 *
 * @example
 * const women = restrict(followUp, (patient) => sex[patient] === "female");
 */
export function restrict(
	followUp: SortedFollowUp,
	keep: (patient: number, entry: number) => boolean,
): SortedFollowUp {
	const { entry, patient } = followUp;
	const kept: number[] = [];
	for (let i = 0; i < entry.length; i++) if (keep(patient[i], entry[i])) kept.push(i);
	return takeEntries(followUp, kept);
}

/** The entries at ascending places of the sorted order. */
export function takeEntries(followUp: SortedFollowUp, indices: readonly number[]): SortedFollowUp {
	return {
		entry: new Int32Array(pick(followUp.entry, indices)),
		time: pick(followUp.time, indices),
		status: new Uint8Array(pick(followUp.status, indices)),
		patient: new Int32Array(pick(followUp.patient, indices)),
		entries: followUp.entries,
	};
}

/**
 * The entries of several codes as one follow-up, for statistics over all codes at once. Predictions are pooled
 * by `poolValues`, in the same order of codes.
 */
export function poolFollowUps(codes: readonly FollowUp[]): FollowUp {
	return {
		time: poolValues(codes.map(({ time }) => time)),
		status: poolValues(codes.map(({ status }) => status)),
		patient: poolValues(
			codes.map(
				({ time, patient }) => patient ?? Int32Array.from({ length: time.length }, (_, i) => i),
			),
		),
	};
}

/** One array after the other. */
export function poolValues(arrays: readonly ArrayLike<number>[]): Float64Array {
	const pooled = new Float64Array(arrays.reduce((sum, { length }) => sum + length, 0));
	let start = 0;
	for (const array of arrays) {
		pooled.set(array, start);
		start += array.length;
	}
	return pooled;
}

/** Predicted probabilities in the order of the sorted entries. */
export function sortPredictions(
	{ entry, entries }: SortedFollowUp,
	predicted: ArrayLike<number>,
): Float64Array {
	if (predicted.length !== entries)
		throw new InputError(
			`predictions: ${predicted.length} for ${entries} entries; expected one per entry`,
			{ field: "predicted", value: predicted.length },
		);
	const sorted = pick(predicted, entry);
	checkProbabilities(sorted, "predictions");
	return sorted;
}
