import { random } from "../base/random.js";
import { yearDays } from "../base/time.js";
import { indexPeriods, recordDays, type TimeAtRisk, timeAtRisk } from "./at-risk.js";
import type { Dataset } from "./dataset.js";
import type { History } from "./history.js";
import type { Split } from "./manifest.js";
import { specialCount } from "./vocabulary.js";

/** Width of the age bands, in years. */
export const bandYears = 5;
export const bandCount = 22;
export const sexes = ["female", "male"] as const;
/** Index days per patient. */
const landmarks = 3;

/** A patient on an index day. */
interface Indexed {
	readonly history: Pick<History, "birthEvents" | "sex"> & { readonly times: ArrayLike<number> };
	readonly day: number;
}

/** The age band on an index day; where the birth is unknown, that of 50 years. */
const bandOf = ({ history, day }: Indexed): number => {
	const years = history.birthEvents === 1 ? (day - (history.times[0] as number)) / yearDays : 50;
	return Math.min(bandCount - 1, Math.max(0, Math.floor(years / bandYears)));
};

/** The place of a band and sex among the cells. */
export const cellOf = (one: Indexed): number =>
	sexes.length * bandOf(one) + Number(one.history.sex === "male");

/** Onsets (and deaths) and days at risk by age band and sex, within a horizon. */
export interface OnsetSums {
	/** Outputs per cell: every token, then the groups, then death. */
	readonly width: number;
	readonly onsets: Float64Array; // [cells, width]
	readonly days: Float64Array; // [cells, width]
	/** Number of patients with time at risk. */
	readonly patients: number;
}

export interface OnsetSumOptions {
	readonly horizonDays: number;
	readonly lookBackDays: number;
	readonly seed: number;
	/** Sets of tokens: the first record of any member. */
	readonly groups?: readonly (readonly number[])[];
	/** Which patients count; all if left out. */
	readonly counts?: (history: History) => boolean;
}

/** Index days of a patient: drawn evenly from the days on which the patient is at risk. */
export function* trainingLandmarks(
	history: History,
	seed: number,
	lookBackDays: number,
	count = landmarks,
): Generator<{ readonly day: number; readonly atRisk: TimeAtRisk }> {
	const draw = random(seed).fork("landmarks").fork(history.id);
	const periods = indexPeriods(history, lookBackDays);
	const total = periods.reduce((sum, { start, end }) => sum + end - start + 1, 0);
	for (let i = 0; i < count && total > 0; i++) {
		let left = draw.integer(total);
		const period = periods.find(({ start, end }) => {
			if (left <= end - start) return true;
			left -= end - start + 1;
			return false;
		});
		if (!period) continue;
		const day = period.start + left;
		const atRisk = timeAtRisk(history, day, lookBackDays);
		if (atRisk && atRisk.until > day) yield { day, atRisk };
	}
}

/** Counts first records after drawn index days, of codes and groups that a patient did not have on them. */
export async function onsetSums(
	dataset: Dataset,
	split: Split,
	{ horizonDays, lookBackDays, seed, groups = [], counts = () => true }: OnsetSumOptions,
): Promise<OnsetSums> {
	const vocab = dataset.vocabulary.size;
	const width = vocab + groups.length + 1;
	const cells = sexes.length * bandCount;
	const onsets = new Float64Array(cells * width);
	const days = new Float64Array(cells * width);
	let patients = 0;
	for (const patient of dataset.patients(split)) {
		const history = await dataset.read(patient);
		if (!counts(history)) continue;
		let atRiskAtAll = 0;
		for (const { day, atRisk } of trainingLandmarks(history, seed, lookBackDays)) {
			atRiskAtAll = 1;
			const at = cellOf({ history, day }) * width;
			const end = Math.min(atRisk.until, day + horizonDays);
			const { before, after } = recordDays(history, vocab, day);
			/** Adds the time at risk of an output that is next recorded on a day. */
			const follow = (output: number, next: number) => {
				days[at + output] = (days[at + output] as number) + Math.min(next, end) - day;
				if (next <= end) onsets[at + output] = (onsets[at + output] as number) + 1;
			};
			const isNew = (token: number) => before[token] === Number.NEGATIVE_INFINITY;
			for (let token = specialCount; token < vocab; token++)
				if (isNew(token)) follow(token, after[token] as number);
			for (const [i, members] of groups.entries())
				if (members.every(isNew))
					follow(vocab + i, Math.min(...members.map((token) => after[token] as number)));
			follow(width - 1, atRisk.endedBy === "death" ? atRisk.until : Number.POSITIVE_INFINITY);
		}
		patients += atRiskAtAll;
	}
	return { width, onsets, days, patients };
}

/** What a band counts in the rate at an age, per band of distance. */
const perBand = 0.5;
/** Of the rate over all ages: where nobody of an age was observed, nor around it. */
const daysOverall = 365;

/**
 * Rates per day: [cells, width]. Each is drawn, by so many years of observation, towards the rate at its age, for which
 * other bands of the same sex count less the farther away they are.
 */
export function ratesOf({ onsets, days, width }: OnsetSums, priorYears: number): Float64Array {
	const prior = priorYears * yearDays;
	const stride = width * sexes.length;
	const rates = new Float64Array(onsets.length);
	/** The sum over the bands of a column: one output of one sex. */
	const weighted = (sums: Float64Array, column: number, weight: (at: number) => number) => {
		let sum = 0;
		for (let at = column; at < sums.length; at += stride) sum += weight(at) * (sums[at] as number);
		return sum;
	};
	for (let column = 0; column < stride; column++) {
		const overall =
			(0.5 + weighted(onsets, column, () => 1)) / (daysOverall + weighted(days, column, () => 1));
		for (let at = column; at < rates.length; at += stride) {
			const near = (other: number) => perBand ** (Math.abs(other - at) / stride);
			const atAge =
				(weighted(onsets, column, near) + daysOverall * overall) /
				(weighted(days, column, near) + daysOverall);
			rates[at] = ((onsets[at] as number) + prior * atAge) / ((days[at] as number) + prior);
		}
	}
	return rates;
}

/** The probability of an event within so many days at constant rates per day, death competing. */
export function incidenceAtRate(rate: number, dying: number, days: number): number {
	const all = rate + dying;
	return all > 0 ? (rate / all) * -Math.expm1(-all * days) : 0;
}

/** Rates of first records per day at risk, by sex and age band: [age bands][every token, then the groups, then death]. */
export interface RatesByAgeAndSex {
	readonly female: readonly (readonly number[])[];
	readonly male: readonly (readonly number[])[];
}

/** Whether a patient can be compared with people of the same age and sex. */
export const hasAgeAndSex = ({ birthEvents, sex }: Pick<History, "birthEvents" | "sex">): boolean =>
	birthEvents === 1 && sex !== null;

/**
 * The probability of a first record of outputs within so many days for people of a patient's age and sex on a day,
 * death competing; several outputs are taken as independent. Undefined if the birth or the sex is unknown.
 */
export function incidenceByAgeAndSex(
	rates: RatesByAgeAndSex,
	history: Indexed["history"],
	day: number,
	outputs: readonly number[],
	days: number,
): number | undefined {
	if (!hasAgeAndSex(history)) return undefined;
	const own = rates[history.sex === "male" ? "male" : "female"][bandOf({ history, day })] ?? [];
	const dying = own.at(-1) as number;
	const none = outputs.reduce(
		(left, output) => left * (1 - incidenceAtRate(own[output] as number, dying, days)),
		1,
	);
	return 1 - none;
}
