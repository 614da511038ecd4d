import { type Bins, binsOf, type HazardSettings, outputsOf } from "./settings.js";

/** log hazards per day of one patient, [bins, outputs]. */
export type PatientHazards = Float32Array;

/**
 * The probability of a record of each output within so many days, death competing. Days beyond the last bin are not
 * answered: the caller cuts them.
 */
export const cumulativeIncidence = (
	settings: HazardSettings,
	vocab: number,
	logHazards: PatientHazards,
	days: number,
): Float64Array =>
	competingIncidence(binsOf(settings), outputsOf(settings, vocab), logHazards, days);

/**
 * The same of some outputs, one of which is death:
 * Σ over bins of h / (h + d) · (1 − e^−(h + d) w) · e^−Σ earlier (h + d) w.
 */
export function competingIncidence(
	{ from, to }: Pick<Bins, "from" | "to">,
	{ count, death }: { readonly count: number; readonly death: number },
	logHazards: PatientHazards, // [bins, count]
	days: number,
): Float64Array {
	const found = new Float64Array(count);
	const left = new Float64Array(count).fill(1); // probability that neither has happened
	for (const [bin, start] of from.entries()) {
		const width = Math.min(days, to[bin] as number) - start;
		if (width <= 0) break;
		const at = bin * count;
		const dying = Math.exp(logHazards[at + death] as number);
		for (let output = 0; output < count; output++) {
			const own = Math.exp(logHazards[at + output] as number);
			const all = output === death ? own : own + dying;
			const ends = -Math.expm1(-all * width);
			found[output] = (found[output] as number) + (left[output] as number) * (own / all) * ends;
			left[output] = (left[output] as number) * (1 - ends);
		}
	}
	return found;
}

/** The same within each of several horizons: what is common to them is computed once. */
export function competingIncidences(
	{ from, to }: Pick<Bins, "from" | "to">,
	{ count, death }: { readonly count: number; readonly death: number },
	logHazards: PatientHazards, // [bins, count]
	days: readonly number[],
): Float64Array[] {
	const found = days.map(() => new Float64Array(count));
	const farthest = Math.max(...days);
	const before = new Float64Array(count);
	const left = new Float64Array(count).fill(1);
	for (const [bin, start] of from.entries()) {
		if (start >= farthest) break;
		const end = to[bin] as number;
		const at = bin * count;
		const dying = Math.exp(logHazards[at + death] as number);
		const within = found.filter((_, i) => start < (days[i] as number) && (days[i] as number) < end);
		const widths = days.filter((own) => start < own && own < end).map((own) => own - start);
		for (let output = 0; output < count; output++) {
			const own = Math.exp(logHazards[at + output] as number);
			const all = output === death ? own : own + dying;
			const [past, survived] = [before[output] as number, left[output] as number];
			for (let i = 0; i < within.length; i++)
				(within[i] as Float64Array)[output] =
					past + survived * (own / all) * -Math.expm1(-all * (widths[i] as number));
			const ends = -Math.expm1(-all * (end - start));
			before[output] = past + survived * (own / all) * ends;
			left[output] = survived * (1 - ends);
		}
		for (const [i, own] of found.entries()) if ((days[i] as number) >= end) own.set(before);
	}
	return found;
}
