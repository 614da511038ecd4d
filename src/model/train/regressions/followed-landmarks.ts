import { evenlySpread } from "../../../base/arrays.js";
import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import {
	bandCount,
	bandOf,
	bandYears,
	type OnsetSums,
	type RatesByAgeAndSex,
	smoothLogRates,
	usualAge,
} from "../../../data/cohort/age-sex-rates.js";
import * as observation from "../../../data/cohort/at-risk.js";
import type { Dataset, History, Split } from "../../../data/cohort/index.js";
import { specialCount } from "../../../data/cohort/vocabulary.js";
import type { Outcomes } from "../../glm.js";
import { binsOf, type HazardSettings, outputsOf } from "../../hazards/settings.js";
import { type DescribedPeople, described } from "./record-features.js";

/** A list of row numbers for each output, one after the other. */
interface RowLists {
	readonly starts: Int32Array; // [outputs + 1]
	readonly rows: Int32Array;
}

/** Days of people, what was known on them, and what happened to each output afterwards. Threads share the arrays. */
export interface FollowedLandmarks extends DescribedPeople {
	/** Landmarks of a person. */
	readonly perPerson: number;
	/** Days from the landmark until death or the end of observation. */
	readonly days: Float32Array;
	/** The landmarks at which an output is recorded already. */
	readonly recorded: RowLists;
	/** The landmarks after which an output is first recorded, and after how many days. */
	readonly onsets: RowLists & { readonly after: Float32Array };
}

export interface LandmarkOptions {
	readonly seed: number;
	readonly lookBackDays: number;
	/** Days drawn from each person, at most, and from all of them. */
	readonly perPerson: number;
	readonly mostLandmarks: number;
	readonly mostPatients: number;
}

/** Days drawn evenly from those on which a person is at risk. */
export function* drawnDays(
	history: History,
	{ seed, lookBackDays }: Pick<LandmarkOptions, "seed" | "lookBackDays">,
	count: number,
): Generator<observation.TimeAtRisk> {
	const draw = random(seed).fork("landmarks").fork(history.id);
	const periods = observation.indexPeriods(history, lookBackDays);
	const total = observation.observedDays(periods);
	for (let i = 0; i < count && total > 0; i++) {
		const day = observation.nthDay(periods, draw.integer(total)) as number;
		const atRisk = observation.timeAtRisk(history, day, lookBackDays);
		if (atRisk && atRisk.until > day) yield atRisk;
	}
}

/** A person on a day, and how long the person is at risk after it. */
export interface Landmark {
	readonly history: History;
	readonly atRisk: observation.TimeAtRisk;
}

/** Landmarks of a split: as many of each person, and no more than so many of all. */
export async function drawnLandmarks(
	dataset: Dataset,
	split: Split,
	options: LandmarkOptions,
): Promise<{ readonly landmarks: readonly Landmark[]; readonly perPerson: number }> {
	const { mostPatients, mostLandmarks } = options;
	const patients = evenlySpread(dataset.patients(split), Math.min(mostPatients, mostLandmarks));
	const perPerson = Math.min(
		options.perPerson,
		Math.floor(mostLandmarks / Math.max(1, patients.length)),
	);
	const landmarks: Landmark[] = [];
	for (const patient of patients) {
		const history = await dataset.read(patient);
		for (const atRisk of drawnDays(history, options, perPerson))
			landmarks.push({ history, atRisk });
	}
	return { landmarks, perPerson };
}

/** What regressions learn from the landmarks of a split. */
export async function followedLandmarks(
	settings: HazardSettings,
	dataset: Dataset,
	split: Split,
	options: LandmarkOptions,
): Promise<FollowedLandmarks> {
	const { landmarks, perPerson } = await drawnLandmarks(dataset, split, options);
	return { ...follow(settings, dataset.vocabulary.size, landmarks), perPerson };
}

function follow(
	settings: HazardSettings,
	vocab: number,
	landmarks: readonly Landmark[],
): Omit<FollowedLandmarks, "perPerson"> {
	const { count, death } = outputsOf(settings, vocab);
	const farthest = settings.binDays.at(-1) as number;
	const recorded = Array.from({ length: count }, (): number[] => []);
	const onsets = Array.from({ length: count }, (): number[] => []);
	const onsetDays = Array.from({ length: count }, (): number[] => []);
	const note = (output: number, row: number, before: number, after: number, until: number) => {
		if (before > Number.NEGATIVE_INFINITY) recorded[output].push(row);
		else if (after <= until) {
			onsets[output].push(row);
			onsetDays[output].push(after);
		}
	};
	for (const [row, { history, atRisk }] of landmarks.entries()) {
		const { before, after } = observation.recordDays(history, vocab, atRisk.from);
		const until = Math.min(atRisk.until - atRisk.from, farthest);
		for (let token = specialCount; token < vocab; token++)
			note(token, row, before[token], after[token] - atRisk.from, until);
		for (const [group, { tokens }] of settings.groups.entries()) {
			const last = Math.max(...tokens.map((token) => before[token]));
			const next = Math.min(...tokens.map((token) => after[token]));
			note(vocab + group, row, last, next - atRisk.from, until);
		}
		if (atRisk.endedBy === "death")
			note(death, row, Number.NEGATIVE_INFINITY, atRisk.until - atRisk.from, until);
	}
	const shared = <Values extends Float32Array | Int8Array | Int32Array>(
		kind: { new (buffer: SharedArrayBuffer): Values; readonly BYTES_PER_ELEMENT: number },
		values: ArrayLike<number>,
	): Values => {
		const array = new kind(new SharedArrayBuffer(kind.BYTES_PER_ELEMENT * values.length));
		array.set(values);
		return array;
	};
	const lists = (rows: readonly (readonly number[])[]): RowLists => {
		let end = 0;
		return {
			starts: shared(Int32Array, [0, ...rows.map(({ length }) => (end += length))]),
			rows: shared(Int32Array, rows.flat()),
		};
	};
	const people = landmarks.map(({ history, atRisk }) => ({ history, day: atRisk.from }));
	return {
		...described(settings, vocab, people),
		days: shared(
			Float32Array,
			landmarks.map(({ atRisk }) => Math.min(atRisk.until - atRisk.from, farthest)),
		),
		recorded: lists(recorded),
		onsets: { ...lists(onsets), after: shared(Float32Array, onsetDays.flat()) },
	};
}

/** How the log rate of an output depends on age, at the middle of each age band: the mean of the sexes, and half of what men have more. */
export interface AgeCurve {
	readonly mean: Float64Array;
	readonly halfDifference: Float64Array;
}

const lowestRate = 1e-12;

const curveOf = (logRate: (band: number, isMale: 0 | 1) => number): AgeCurve => {
	const bands = Array.from({ length: bandCount }, (_, band) => band);
	return {
		mean: Float64Array.from(bands, (band) => (logRate(band, 1) + logRate(band, 0)) / 2),
		halfDifference: Float64Array.from(bands, (band) => (logRate(band, 1) - logRate(band, 0)) / 2),
	};
};

export const ageCurve = ({ female, male }: RatesByAgeAndSex, output: number): AgeCurve =>
	curveOf((band, isMale) => Math.log(Math.max(lowestRate, (isMale ? male : female)[band][output])));

/**
 * The log rate so many years after a day: between the middles of two bands it lies on a line. Where the birth is unknown,
 * it is that of people of a usual age.
 */
export function logRateAt(
	{ mean, halfDifference }: AgeCurve,
	sex: number,
	age: number,
	yearsLater: number,
): number {
	const years = age < 0 ? usualAge : age + yearsLater;
	const position = Math.min(bandCount - 1, Math.max(0, years / bandYears - 0.5));
	const low = Math.floor(position);
	const high = Math.ceil(position);
	const share = position - low;
	return (
		(1 - share) * (mean[low] + sex * halfDifference[low]) +
		share * (mean[high] + sex * halfDifference[high])
	);
}

/** Whether an output is first recorded after each landmark, and the days at risk of it. */
function followUp({ days, recorded, onsets }: FollowedLandmarks, output: number) {
	const atRisk = days.slice();
	const events = new Float64Array(atRisk.length);
	for (let i = recorded.starts[output]; i < recorded.starts[output + 1]; i++)
		atRisk[recorded.rows[i]] = 0;
	for (let i = onsets.starts[output]; i < onsets.starts[output + 1]; i++) {
		atRisk[onsets.rows[i]] = onsets.after[i];
		events[onsets.rows[i]] = 1;
	}
	return { atRisk, events };
}

/** First records after landmarks, with the logarithms of the rates of age and sex at which they happened, added up. */
export interface OutcomesAtRates extends Outcomes {
	readonly logRates: number;
}

/**
 * First records of an output after landmarks, in so many expected ones: its rate by age and sex (the age in the middle
 * of each bin), summed over the days at risk. A rate e^η times that of age and sex has the likelihood of a Poisson
 * regression with this exposure, and −log likelihoods with different age curves can be compared less `logRates`.
 */
export function outcomesOf(
	settings: HazardSettings,
	landmarks: FollowedLandmarks,
	output: number,
	curve: AgeCurve,
): OutcomesAtRates {
	const { from, to, middle } = binsOf(settings);
	const { ages, sexes } = landmarks;
	const { atRisk, events } = followUp(landmarks, output);
	const exposure = new Float64Array(atRisk.length);
	let logRates = 0;
	for (let row = 0; row < exposure.length; row++)
		for (let bin = 0; bin < to.length && from[bin] < atRisk[row]; bin++) {
			const days = Math.min(atRisk[row], to[bin]) - from[bin];
			const logRate = logRateAt(curve, sexes[row], ages[row], middle[bin] / yearDays);
			exposure[row] += days * Math.exp(logRate);
			if (events[row] > 0 && atRisk[row] <= to[bin]) logRates += logRate;
		}
	return { events, exposure, logRates };
}

/** Days per cell of age and sex that count as those of all ages: few landmarks say little of their cell. */
const addedDays = 3652;

/**
 * The age curve of an output, given the logarithm of how much higher the rate is after each landmark for other reasons:
 * days at risk count as many times as the rate is higher, on average, among landmarks of the same age and sex.
 * Undefined if nobody is at risk of it.
 */
export function curveBeside(
	settings: HazardSettings,
	landmarks: FollowedLandmarks,
	sums: OnsetSums,
	output: number,
	logRatio: Float64Array,
): AgeCurve | undefined {
	const { from, to, middle } = binsOf(settings);
	const { ages, sexes, perPerson } = landmarks;
	const { atRisk } = followUp(landmarks, output);
	const days = new Float64Array(2 * bandCount);
	const weighted = new Float64Array(2 * bandCount);
	for (let row = 0; row < atRisk.length; row++) {
		const ratio = Math.exp(logRatio[row]);
		for (let bin = 0; bin < to.length && from[bin] < atRisk[row]; bin++) {
			const years = ages[row] < 0 ? usualAge : ages[row] + middle[bin] / yearDays;
			const cell = 2 * bandOf(years) + Number(sexes[row] > 0);
			const inBin = Math.min(atRisk[row], to[bin]) - from[bin];
			days[cell] += inBin;
			weighted[cell] += inBin * ratio;
		}
	}
	const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);
	if (total(days) === 0) return undefined;
	const overall = total(weighted) / total(days);
	const added = addedDays * perPerson;
	const ofOutput = (values: Float64Array) =>
		days.map((_, cell) => values[cell * sums.width + output]);
	const logRates = smoothLogRates(
		ofOutput(sums.onsets),
		ofOutput(sums.days).map(
			(all, cell) => (all * (weighted[cell] + added * overall)) / (days[cell] + added),
		),
	);
	return curveOf((band, isMale) => logRates[2 * band + isMale]);
}
