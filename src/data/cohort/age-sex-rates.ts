import { yearDays } from "../../base/time.js";
import { indexPeriods, recordDays, type TimeAtRisk, timeAtRisk } from "./at-risk.js";
import type { Dataset } from "./dataset.js";
import type { History } from "./history.js";
import type { Split } from "./manifest.js";
import { specialCount } from "./vocabulary.js";

/** Width of the age bands, in years. */
export const bandYears = 5;
export const bandCount = 22;
const sexes = ["female", "male"] as const;

/** Outputs: every token, then the groups, then death. */
const outputCount = (vocab: number, groups: number): number => vocab + groups + 1;

/** Rates of first records per day at risk at the middle of each age band, by sex: [age bands][outputs]. */
export interface RatesByAgeAndSex {
	readonly female: readonly ArrayLike<number>[];
	readonly male: readonly ArrayLike<number>[];
}

type Person = Pick<History, "birthEvents" | "sex"> & { readonly times: ArrayLike<number> };

/** Where the birth is unknown. */
export const usualAge = 50;

export const bandOf = (years: number): number =>
	Math.min(bandCount - 1, Math.max(0, Math.floor(years / bandYears)));

/** The age on a day, and its band. */
function ageBand({ birthEvents, times }: Pick<Person, "birthEvents" | "times">, day: number) {
	const years = birthEvents === 1 ? (day - times[0]) / yearDays : usualAge;
	return { years, band: bandOf(years) };
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
	const low = bands[Math.floor(at)];
	const high = bands[Math.ceil(at)];
	const weight = at - Math.floor(at);
	return (output) => low[output] ** (1 - weight) * high[output] ** weight;
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
	const incidences = new Float64Array(outputs.length);
	const free = new Float64Array(outputs.length).fill(1);
	for (let from = 0; from < days; from += yearDays) {
		const length = Math.min(yearDays, days - from);
		const rate = rateAt(bands, ageBand(person, day + from + length / 2).years);
		const dying = rate(death);
		for (const [i, output] of outputs.entries()) {
			const hazard = rate(output);
			const left = free[i];
			incidences[i] += left * incidenceAtRate(hazard, dying, length);
			free[i] = left * Math.exp(-(hazard + dying) * length);
		}
	}
	return incidences;
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
		(left, incidence) => left * (1 - incidence),
		1,
	);
	return 1 - none;
}

/**
 * First records (and deaths) and days at risk, by age on the day and sex: [age bands, sexes, outputs]. A day counts by
 * the share of the horizon before it in which the patient can have an index day: as after index days drawn evenly.
 * Outputs are every token, then the groups, then death; `patients` have time at risk.
 */
export type OnsetSums = Awaited<ReturnType<typeof onsetSums>>;

export interface OnsetSumOptions {
	readonly horizonDays: number;
	readonly lookBackDays: number;
	/** Sets of tokens: the first record of any member. */
	readonly groups?: readonly (readonly number[])[];
	/** Which patients count; all if left out. */
	readonly counts?: (history: History) => boolean;
}

/** The parts of a time at risk that lie in one age band each. */
function bandsOf(history: History, { from, until }: TimeAtRisk) {
	const parts: { readonly band: number; readonly from: number; readonly until: number }[] = [];
	for (let start = from; start < until; ) {
		const { band, years } = ageBand(history, start);
		const left = Math.max(1, Math.ceil(((band + 1) * bandYears - years) * yearDays));
		const end = band === bandCount - 1 ? until : Math.min(until, start + left);
		parts.push({ band, from: start, until: end });
		start = end;
	}
	return parts;
}

/** The days that a patient counts through a day so many days after the first index day. */
const counted = (day: number, horizon: number): number =>
	day < horizon ? day ** 2 / (2 * horizon) : day - horizon / 2;

/** Counts first records of codes and groups, in all time at risk of the patients who do not have them. */
export async function onsetSums(
	dataset: Dataset,
	split: Split,
	{ horizonDays, lookBackDays, groups = [], counts = () => true }: OnsetSumOptions,
) {
	const vocab = dataset.vocabulary.size;
	const width = outputCount(vocab, groups.length);
	const onsets = new Float64Array(bandCount * sexes.length * width);
	const days = new Float64Array(onsets.length);
	/** The day of each output's next record; −∞ for those that the patient already has. */
	const next = new Float64Array(width);
	let patients = 0;
	for (const patient of dataset.patients(split)) {
		const history = await dataset.read(patient);
		if (!counts(history)) continue;
		const times = indexPeriods(history, lookBackDays)
			.map(({ start }) => timeAtRisk(history, start, lookBackDays))
			.filter((time) => time !== null && time.until > time.from) as TimeAtRisk[];
		patients += Number(times.length > 0);
		for (const time of times) {
			const { before, after } = recordDays(history, vocab, time.from);
			const isNew = (token: number) => before[token] === Number.NEGATIVE_INFINITY;
			for (let token = specialCount; token < vocab; token++)
				next[token] = isNew(token) ? after[token] : Number.NEGATIVE_INFINITY;
			for (const [i, members] of groups.entries())
				next[vocab + i] = members.every(isNew)
					? Math.min(...members.map((token) => after[token]))
					: Number.NEGATIVE_INFINITY;
			next[width - 1] = time.endedBy === "death" ? time.until : Number.POSITIVE_INFINITY;
			const through = (day: number) => counted(day - time.from, horizonDays);
			for (const { band, from, until } of bandsOf(history, time)) {
				const row = (band * sexes.length + Number(history.sex === "male")) * width;
				const [begin, end] = [through(from), through(until)];
				// Outputs are the inner loop, so that memory is read in order.
				for (let output = specialCount; output < width; output++) {
					const day = next[output];
					if (day <= from) continue;
					const at = row + output;
					days[at] = days[at] + (day < until ? through(day) : end) - begin;
					if (day <= until) onsets[at] += Math.min(1, (day - time.from) / horizonDays);
				}
			}
		}
	}
	return { width, onsets, days, patients };
}

/**
 * Precisions of what is expected of the logarithm of a rate before anything is counted. Chosen by the likelihood of
 * first records of 19,177 simulated people after counts of 2,257 and of 19,046 others; neighbouring values are as good.
 */
const precisions = {
	/** Of the step from an age band to the next. */
	step: 1,
	/** Of the change of that step. */
	bend: 10,
	/** Of the step of the difference between the sexes. */
	sexStep: 100,
	/** Of the difference between the sexes in each band. */
	sexes: 0.001,
};

/** Onsets that are added at the same rate at all ages: a code that was never recorded has a rate too. */
const added = 0.5;

/** Unknowns of an output: the logarithm of the rate in each band, women before men. */
const unknowns = bandCount * sexes.length;
/** A row of the Hessian reaches two bands back. */
const reach = 2 * sexes.length;
const rowWidth = reach + 1;
const mostSteps = 100;
const tolerance = 1e-6;
/** The largest change of a logarithm in one step: Newton's method alone can overshoot. */
const longest = 2;

/** The lower half of a symmetric band matrix: row i holds columns i − reach to i. */
type BandMatrix = Float64Array;

/** Adds ½ · precision · (Σ weights[k] · unknowns[last − k])² to a quadratic form. */
function addSquare(form: BandMatrix, precision: number, last: number, weights: number[]): void {
	for (const [k, a] of weights.entries())
		for (const [before, b] of weights.slice(k).entries())
			form[(last - k) * rowWidth + reach - before] += precision * a * b;
}

/** What is expected before anything is counted, as a quadratic form. */
function priorForm(): BandMatrix {
	const { step, bend, sexStep, sexes: apart } = precisions;
	const form = new Float64Array(unknowns * rowWidth);
	for (let band = 0; band < bandCount; band++) {
		const women = band * sexes.length;
		const men = women + 1;
		addSquare(form, apart, men, [-1, 1]);
		if (band === 0) continue;
		addSquare(form, sexStep, men, [-1, 1, 1, -1]);
		for (const row of [women, men]) {
			addSquare(form, step, row, [1, 0, -1]);
			if (band > 1) addSquare(form, bend, row, [1, 0, -2, 0, 1]);
		}
	}
	return form;
}

/** Solves A x = b for a positive definite band matrix, by Cholesky's method; overwrites both. */
function solveBands(matrix: BandMatrix, x: Float64Array): Float64Array {
	const at = (row: number, column: number) => row * rowWidth + reach + column - row;
	for (let row = 0; row < unknowns; row++) {
		const first = Math.max(0, row - reach);
		for (let column = first; column <= row; column++) {
			let sum = matrix[at(row, column)];
			for (let k = Math.max(first, column - reach); k < column; k++)
				sum -= matrix[at(row, k)] * matrix[at(column, k)];
			matrix[at(row, column)] = column === row ? Math.sqrt(sum) : sum / matrix[at(column, column)];
		}
		let sum = x[row];
		for (let k = first; k < row; k++) sum -= matrix[at(row, k)] * x[k];
		x[row] = sum / matrix[at(row, row)];
	}
	for (let row = unknowns - 1; row >= 0; row--) {
		let sum = x[row];
		for (let k = row + 1; k <= Math.min(unknowns - 1, row + reach); k++)
			sum -= matrix[at(k, row)] * x[k];
		x[row] = sum / matrix[at(row, row)];
	}
	return x;
}

/** The logarithms of the rates of one output that are most probable after its onsets and days at risk: [age bands, sexes]. */
export function smoothLogRates(
	onsets: Float64Array,
	days: Float64Array,
	prior = priorForm(),
): Float64Array {
	const total = days.reduce((sum, value) => sum + value, 0);
	const overall = (added + onsets.reduce((sum, value) => sum + value, 0)) / Math.max(1, total);
	const logRates = new Float64Array(unknowns).fill(Math.log(overall));
	for (let n = 0; n < mostSteps; n++) {
		const hessian = prior.slice();
		const slope = new Float64Array(unknowns);
		for (let row = 0; row < unknowns; row++) {
			const expected = days[row] * Math.exp(logRates[row]);
			const share = total > 0 ? days[row] / total : 0;
			slope[row] = slope[row] + onsets[row] + added * share - expected;
			const diagonal = row * rowWidth + reach;
			hessian[diagonal] += expected;
			for (let column = Math.max(0, row - reach); column <= row; column++) {
				const coupling = prior[diagonal + column - row];
				slope[row] -= coupling * logRates[column];
				if (column < row) slope[column] -= coupling * logRates[row];
			}
		}
		const change = solveBands(hessian, slope);
		const most = change.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
		const size = Math.min(1, longest / most);
		for (let row = 0; row < unknowns; row++) logRates[row] += size * change[row];
		if (most < tolerance) break;
	}
	return logRates;
}

/**
 * Rates by age and sex. What was counted says most where many were at risk; elsewhere a rate continues those of the
 * ages around it, and the difference between the sexes that these show.
 */
export function smoothRates({ onsets, days, width }: OnsetSums): RatesByAgeAndSex {
	const prior = priorForm();
	const bands = sexes.map(() => Array.from({ length: bandCount }, () => new Float64Array(width)));
	for (let output = 0; output < width; output++) {
		const column = (sums: Float64Array) =>
			Float64Array.from({ length: unknowns }, (_, row) => sums[row * width + output]);
		const daysAtRisk = column(days);
		if (daysAtRisk.every((none) => none === 0)) continue;
		for (const [row, value] of smoothLogRates(column(onsets), daysAtRisk, prior).entries()) {
			const band = bands[row % sexes.length]?.[Math.floor(row / sexes.length)] as Float64Array;
			band[output] = Math.exp(value);
		}
	}
	const [female, male] = bands as [Float64Array[], Float64Array[]];
	return { female, male };
}
