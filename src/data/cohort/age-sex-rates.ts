import { yearDays } from "../../base/time.js";
import type { History } from "./history.js";

/** Width of the age bands, in years. */
export const bandYears = 5;
export const bandCount = 22;
export const sexes = ["female", "male"] as const;

/** Outputs: every token, then the groups, then death. */
export const outputCount = (vocab: number, groups: number): number => vocab + groups + 1;

/** Rates of first records per day at risk at the middle of each age band, by sex: [age bands][outputs]. */
export interface RatesByAgeAndSex {
	readonly female: readonly ArrayLike<number>[];
	readonly male: readonly ArrayLike<number>[];
}

type Person = Pick<History, "birthEvents" | "sex"> & { readonly times: ArrayLike<number> };

/** Where the birth is unknown. */
const usualAge = 50;

/** The age on a day, and its band. */
export function ageBand(
	{ birthEvents, times }: Pick<Person, "birthEvents" | "times">,
	day: number,
): { readonly years: number; readonly band: number } {
	const years = birthEvents === 1 ? (day - (times[0] as number)) / yearDays : usualAge;
	return { years, band: Math.min(bandCount - 1, Math.max(0, Math.floor(years / bandYears))) };
}

/** Whether a patient can be compared with people of the same age and sex. */
export const hasAgeAndSex = ({ birthEvents, sex }: Pick<History, "birthEvents" | "sex">): boolean =>
	birthEvents === 1 && sex !== null;

/** The probability of an event within so many days at constant rates per day, death competing. */
export function incidenceAtRate(rate: number, dying: number, days: number): number {
	const all = rate + dying;
	return all > 0 ? (rate / all) * -Math.expm1(-all * days) : 0;
}

/** The rates at an age: between the middles of two bands, the logarithms of the rates lie on a line. */
function rateAt(bands: readonly ArrayLike<number>[], years: number): (output: number) => number {
	const at = Math.min(bandCount - 1, Math.max(0, years / bandYears - 0.5));
	const low = bands[Math.floor(at)] as ArrayLike<number>;
	const high = bands[Math.ceil(at)] as ArrayLike<number>;
	const weight = at - Math.floor(at);
	return (output) => (low[output] as number) ** (1 - weight) * (high[output] as number) ** weight;
}

/**
 * The probability of a first record of each output within so many days of a day for people of a patient's age and sex,
 * who grow older meanwhile; death competes.
 */
export function incidencesByAgeAndSex(
	rates: RatesByAgeAndSex,
	person: Person,
	day: number,
	outputs: readonly number[],
	days: number,
): Float64Array {
	const bands = rates[person.sex === "male" ? "male" : "female"];
	const death = (bands[0]?.length ?? 0) - 1;
	const found = new Float64Array(outputs.length);
	const free = new Float64Array(outputs.length).fill(1);
	for (let from = 0; from < days; from += yearDays) {
		const length = Math.min(yearDays, days - from);
		const rate = rateAt(bands, ageBand(person, day + from + length / 2).years);
		const dying = rate(death);
		for (const [i, output] of outputs.entries()) {
			const own = rate(output);
			const left = free[i] as number;
			found[i] = (found[i] as number) + left * incidenceAtRate(own, dying, length);
			free[i] = left * Math.exp(-(own + dying) * length);
		}
	}
	return found;
}

/** The probability of a first record of any of the outputs, taken as independent. Undefined if the birth or the sex is unknown. */
export function incidenceByAgeAndSex(
	rates: RatesByAgeAndSex,
	person: Person,
	day: number,
	outputs: readonly number[],
	days: number,
): number | undefined {
	if (!hasAgeAndSex(person)) return undefined;
	const none = incidencesByAgeAndSex(rates, person, day, outputs, days).reduce(
		(left, own) => left * (1 - own),
		1,
	);
	return 1 - none;
}
