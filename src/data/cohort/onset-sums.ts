import { yearDays } from "../../base/time.js";
import { ageBand, bandCount, bandYears, outputCount, sexes } from "./age-sex-rates.js";
import { indexPeriods, recordDays, type TimeAtRisk, timeAtRisk } from "./at-risk.js";
import type { Dataset } from "./dataset.js";
import type { History } from "./history.js";
import type { Split } from "./manifest.js";
import { specialCount } from "./vocabulary.js";

/**
 * First records (and deaths) and days at risk, by age on the day and sex: [age bands, sexes, outputs]. A day counts by
 * the share of the horizon before it in which the patient can have an index day: as after index days drawn evenly.
 */
export interface OnsetSums {
	/** Outputs: every token, then the groups, then death. */
	readonly width: number;
	readonly onsets: Float64Array;
	readonly days: Float64Array;
	/** Number of patients with time at risk. */
	readonly patients: number;
}

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
): Promise<OnsetSums> {
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
				next[token] = isNew(token) ? (after[token] as number) : Number.NEGATIVE_INFINITY;
			for (const [i, members] of groups.entries())
				next[vocab + i] = members.every(isNew)
					? Math.min(...members.map((token) => after[token] as number))
					: Number.NEGATIVE_INFINITY;
			next[width - 1] = time.endedBy === "death" ? time.until : Number.POSITIVE_INFINITY;
			const through = (day: number) => counted(day - time.from, horizonDays);
			for (const { band, from, until } of bandsOf(history, time)) {
				const row = (band * sexes.length + Number(history.sex === "male")) * width;
				const [begin, end] = [through(from), through(until)];
				// Outputs are the inner loop, so that memory is read in order.
				for (let output = specialCount; output < width; output++) {
					const day = next[output] as number;
					if (day <= from) continue;
					const at = row + output;
					days[at] = (days[at] as number) + (day < until ? through(day) : end) - begin;
					if (day <= until)
						onsets[at] = (onsets[at] as number) + Math.min(1, (day - time.from) / horizonDays);
				}
			}
		}
	}
	return { width, onsets, days, patients };
}
