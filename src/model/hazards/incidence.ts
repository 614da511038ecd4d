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
export const competingIncidence = (
	bins: Pick<Bins, "from" | "to">,
	outputs: { readonly count: number; readonly death: number },
	logHazards: PatientHazards, // [bins, count]
	days: number,
): Float64Array => competingIncidences(bins, outputs, logHazards, [days])[0];

/** The same within each of several horizons: what is common to them is computed once. */
export function competingIncidences(
	{ from, to }: Pick<Bins, "from" | "to">,
	{ count, death }: { readonly count: number; readonly death: number },
	logHazards: PatientHazards, // [bins, count]
	days: readonly number[],
): Float64Array[] {
	const incidences = days.map(() => new Float64Array(count));
	const farthest = Math.max(...days);
	const before = new Float64Array(count);
	const left = new Float64Array(count).fill(1); // probability that neither has happened
	for (const [bin, start] of from.entries()) {
		if (start >= farthest) break;
		const end = to[bin];
		const at = bin * count;
		const dying = Math.exp(logHazards[at + death]);
		const within = incidences.filter((_, i) => start < days[i] && days[i] < end);
		const widths = days
			.filter((horizon) => start < horizon && horizon < end)
			.map((horizon) => horizon - start);
		for (let output = 0; output < count; output++) {
			const hazard = Math.exp(logHazards[at + output]);
			const all = output === death ? hazard : hazard + dying;
			const [past, survived] = [before[output], left[output]];
			for (let i = 0; i < within.length; i++)
				(within[i] as Float64Array)[output] =
					past + survived * (hazard / all) * -Math.expm1(-all * widths[i]);
			const ends = -Math.expm1(-all * (end - start));
			before[output] = past + survived * (hazard / all) * ends;
			left[output] = survived * (1 - ends);
		}
		for (const [i, incidence] of incidences.entries()) if (days[i] >= end) incidence.set(before);
	}
	return incidences;
}
