import { InputError } from "../../base/errors.js";
import { ascendingOrder, checkProbabilities, countUpTo, normalQuantile, pick } from "../metrics.js";

/** What ended the time at risk. */
export const censored = 0;
export const onset = 1;
const death = 2;
export const statusOf = { onset, death, "end of observation": censored } as const;

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
export function sortPredictions({ entry, entries }: SortedFollowUp, predicted: ArrayLike<number>) {
	if (predicted.length !== entries)
		throw new InputError(
			`predictions: ${predicted.length} for ${entries} entries; expected one per entry`,
			{ field: "predicted", value: predicted.length },
		);
	const sorted = pick(predicted, entry);
	checkProbabilities(sorted, "predictions");
	return sorted;
}

/**
 * A step function of the days since the index date: `values[i]` holds from `days[i]` until before `days[i + 1]`.
 * It starts on day 0, has a step on each day on which the value changes, and ends with the last day of follow-up.
 */
export interface Curve {
	readonly days: Float64Array;
	readonly values: Float64Array;
	/**
	 * Pointwise 95 % limits from a Greenwood-type variance on the log(−log) scale. They equal the value where
	 * the scale is undefined: at values of 0 and 1.
	 */
	readonly low: Float64Array;
	readonly high: Float64Array;
	/** True if the last patient at risk had the event, so that the value stays as it is after the last day. */
	readonly complete: boolean;
}

/** Value and limits on a day; null after the last day of follow-up, unless the curve is complete. */
export function pointAt({ days, complete, ...curve }: Curve, day: number) {
	if (!(day >= 0) || (day > days.at(-1)! && !complete)) return null;
	const index = countUpTo(days, day) - 1;
	return { value: curve.values[index], low: curve.low[index], high: curve.high[index] };
}

/**
 * Kaplan–Meier: the probability that an event has not happened by each day.
 *
 * - `any`: free of onset and death. Censoring ends the time at risk.
 * - `censoring`: still observed. Onset and death end the time at risk. They precede censoring on the same day,
 *   so patients with an event on a day are not at risk of being censored on that day (as in R's prodlim).
 *
 * Limits: S^exp(±1.96 · σ), σ² = Σ d/(n(n − d)) / log²(S), Greenwood's variance of log(−log S), with d events
 * among n at risk. With weights, d and n count patients as often as their weights say. If no patient has a
 * positive weight, the curve is its start alone.
 */
export function kaplanMeier(
	followUp: SortedFollowUp,
	event: "any" | "censoring",
	weights?: PatientWeights,
): Curve {
	const ofCensoring = event === "censoring";
	let [value, hazards] = [1, 0];
	return curveOf(followUp, weights, ofCensoring, 1, (day) => {
		const events = ofCensoring ? day.losses : day.onsets + day.deaths;
		if (events === 0) return undefined;
		const exposed = ofCensoring ? day.afterEvents : day.atRisk;
		const free = ofCensoring ? day.afterLosses : day.afterEvents;
		value *= free / exposed;
		hazards += events / (exposed * free);
		return { value, limits: logLogLimits(value, value * value * hazards) };
	});
}

/**
 * Aalen–Johansen: the cumulative incidence of onset, the probability that onset has happened by each day. Death
 * competes: patients who died can no longer have an onset. Censoring ends the time at risk.
 *
 * Limits: 1 − (1 − F)^exp(±1.96 · σ), where σ² is the variance of log(−log(1 − F)) by the delta method from the
 * Greenwood-type variance (Marubini and Valsecchi), with d = d₁ + d₂ onsets and deaths among n at risk and S the
 * Kaplan–Meier probability of neither:
 *
 * Var F(t) = Σ (F(t) − Fᵢ)² dᵢ/(nᵢ(nᵢ − dᵢ)) + Σ S²ᵢ₋₁ d₁ᵢ(nᵢ − d₁ᵢ)/nᵢ³ − 2 Σ (F(t) − Fᵢ) Sᵢ₋₁ d₁ᵢ/nᵢ²
 *
 * Without deaths, value and limits are one minus those of Kaplan–Meier. Weights as for `kaplanMeier`.
 */
export function aalenJohansen(followUp: SortedFollowUp, weights?: PatientWeights): Curve {
	let [value, died, free] = [0, 0, 1];
	// Sums of the three terms, expanded in powers of F(t).
	let [square, squareF, squareFF, onsetTerm, cross, crossF] = [0, 0, 0, 0, 0, 0];
	return curveOf(followUp, weights, false, 0, ({ atRisk, onsets, deaths, afterEvents }) => {
		const events = onsets + deaths;
		if (events === 0) return undefined;
		const share = onsets / atRisk;
		value += free * share;
		died += (free * deaths) / atRisk;
		// With nobody left, F stays as it is, and the term is 0.
		if (afterEvents > 0) {
			const term = events / (atRisk * afterEvents);
			square += term;
			squareF += term * value;
			squareFF += term * value * value;
		}
		onsetTerm += (free * free * share * (1 - share)) / atRisk;
		cross += (free * share) / atRisk;
		crossF += ((free * share) / atRisk) * value;
		free *= afterEvents / atRisk;
		if (onsets === 0) return undefined;
		const variance =
			value * value * square -
			2 * value * squareF +
			squareFF +
			onsetTerm -
			2 * (value * cross - crossF);
		// 1 − F, but exactly 0 once everybody has had an onset.
		const { low, high } = logLogLimits(free + died, Math.max(0, variance));
		return { value, limits: { low: 1 - high, high: 1 - low } };
	});
}

interface Limits {
	readonly low: number;
	readonly high: number;
}

function logLogLimits(survival: number, variance: number): Limits {
	if (!(survival > 0 && survival < 1)) return { low: survival, high: survival };
	const log = Math.log(survival);
	const factor = Math.exp((normalQuantile * Math.sqrt(variance)) / (survival * -log));
	return { low: Math.exp(log * factor), high: Math.exp(log / factor) };
}

interface Day {
	readonly atRisk: number;
	readonly onsets: number;
	readonly deaths: number;
	readonly losses: number;
	/** At risk after the onsets and deaths of the day, and after its losses. */
	readonly afterEvents: number;
	readonly afterLosses: number;
}

/** Draws a curve day by day; `step` returns the new value, or nothing on days without a change. */
function curveOf(
	{ time, status, patient }: SortedFollowUp,
	weights: PatientWeights | undefined,
	ofCensoring: boolean,
	start: number,
	step: (day: Day) => { readonly value: number; readonly limits: Limits } | undefined,
): Curve {
	// Sums from the end, so that exactly 0 remain after the last entry whatever the weights are.
	const remaining = new Float64Array(time.length + 1);
	for (let i = time.length - 1; i >= 0; i--)
		remaining[i] = remaining[i + 1] + (weights ? weights[patient[i]] : 1);
	const points = [{ day: 0, value: start, low: start, high: start }];
	let [complete, lastDay] = [false, 0];
	for (let i = 0; remaining[i] > 0; ) {
		const day = time[i];
		const until = (last: number) => {
			const before = remaining[i];
			while (i < time.length && time[i] === day && status[i] === last) i++;
			return before - remaining[i];
		};
		const atRisk = remaining[i];
		const [onsets, deaths] = [until(onset), until(death)];
		const afterEvents = remaining[i];
		const losses = until(censored);
		const afterLosses = remaining[i];
		if (afterLosses < atRisk) {
			lastDay = day;
			complete = afterLosses === 0 && losses > 0 === ofCensoring;
		}
		const next = step({ atRisk, onsets, deaths, losses, afterEvents, afterLosses });
		if (next) points.push({ day, value: next.value, ...next.limits });
	}
	const { day, ...end } = points.at(-1)!;
	if (lastDay > day) points.push({ ...end, day: lastDay });
	return {
		days: Float64Array.from(points, ({ day }) => day),
		values: Float64Array.from(points, ({ value }) => value),
		low: Float64Array.from(points, ({ low }) => low),
		high: Float64Array.from(points, ({ high }) => high),
		complete,
	};
}
