import { countUpTo } from "../order-statistics.js";
import { censored, death, onset, type PatientWeights, type SortedFollowUp } from "./follow-up.js";

/**
 * A step function of the days since the index date: `values[i]` holds from `days[i]` until before `days[i + 1]`.
 * It starts on day 0, has a step on each day on which the value changes, and ends with the last day of follow-up.
 */
export interface Curve {
	readonly days: Float64Array;
	readonly values: Float64Array;
	/** Patients at risk just before each day. */
	readonly atRisk: Float64Array;
	/**
	 * Pointwise 95 % limits from a Greenwood-type variance on the log(−log) scale. They equal the value where
	 * the scale is undefined: at values of 0 and 1.
	 */
	readonly low: Float64Array;
	readonly high: Float64Array;
	/** True if the last patient at risk had the event, so that the value stays as it is after the last day. */
	readonly complete: boolean;
}

/** The curve on one day. */
export interface CurveValue {
	readonly value: number;
	readonly low: number;
	readonly high: number;
}

/** Value and limits on a day; null after the last day of follow-up, unless the curve is complete. */
export function pointAt({ days, complete, ...curve }: Curve, day: number): CurveValue | null {
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

/** The 97.5 % quantile of the normal distribution. */
const normalQuantile = 1.959963984540054;

function logLogLimits(survival: number, variance: number): Limits {
	if (!(survival > 0 && survival < 1)) return { low: survival, high: survival };
	const log = Math.log(survival);
	const factor = Math.exp((normalQuantile * Math.sqrt(variance)) / (survival * -log));
	return { low: Math.exp(log * factor), high: Math.exp(log / factor) };
}

/** What happens on one day, in patients. */
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
	const points = [{ day: 0, value: start, atRisk: remaining[0], low: start, high: start }];
	let [complete, lastDay, lastAtRisk] = [false, 0, remaining[0]];
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
			[lastDay, lastAtRisk] = [day, atRisk];
			complete = afterLosses === 0 && losses > 0 === ofCensoring;
		}
		const next = step({ atRisk, onsets, deaths, losses, afterEvents, afterLosses });
		if (next) points.push({ day, value: next.value, atRisk, ...next.limits });
	}
	const { day, ...end } = points.at(-1)!;
	if (lastDay > day) points.push({ ...end, day: lastDay, atRisk: lastAtRisk });
	return {
		days: Float64Array.from(points, ({ day }) => day),
		values: Float64Array.from(points, ({ value }) => value),
		atRisk: Float64Array.from(points, ({ atRisk }) => atRisk),
		low: Float64Array.from(points, ({ low }) => low),
		high: Float64Array.from(points, ({ high }) => high),
		complete,
	};
}
