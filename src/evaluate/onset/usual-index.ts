import { thousands } from "../../base/thousands.js";
import { dayOfIsoDate, isoDate, yearDays } from "../../base/time.js";
import { indexPeriods, timeAtRisk, usualLookBack } from "../../data/cohort/at-risk.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { EvaluateOptions } from "../evaluation.js";

/** How long after the index day people should be followed. */
const followedYears = 5;
const followedDays = Math.round(followedYears * yearDays);

/** With a smaller share of the patients at risk on the best date, dates of patients have little in common. */
const leastShare = 0.1;

/** An index rule, and words for a reader on how it was chosen; none if the user named it. */
interface ChosenIndex {
	readonly index: string;
	readonly why?: string;
}

/**
 * The index rule of task *onset*: the one that the user named; after a cut, its day; otherwise the same date for
 * everybody where times are dates. A random day lies before the end of observation, and so before death, by more in
 * those who live longer.
 */
export function chosenIndex(
	dataset: Dataset,
	{
		split,
		index,
		before,
		lookBackDays = usualLookBack,
	}: Pick<EvaluateOptions, "split" | "index" | "before" | "lookBackDays">,
): ChosenIndex {
	if (index !== undefined) return { index };
	if (before !== undefined) return { index: isoDate(before) };
	if (dataset.manifest.source.axis !== "dates")
		return { index: "random", why: "times are not dates" };
	const { best, patients } = bestNewYear(dataset, split, lookBackDays);
	if (!best) return { index: "random", why: "nobody is at risk on a first of January" };
	const { date, count, days } = best;
	if (count < leastShare * patients)
		return {
			index: "random",
			why: `only ${thousands(count)} of ${thousands(patients)} patients are at risk on ${date}, the best first of January`,
		};
	return {
		index: date,
		why: `the first of January with the most time at risk within ${followedYears} years after it: ${thousands(Math.round(days / yearDays))} years of ${thousands(count)} patients`,
	};
}

/** The first of January with the most time at risk after it; the earliest of equal ones. */
function bestNewYear(dataset: Dataset, split: EvaluateOptions["split"], lookBackDays: number) {
	const sums = new Map<string, { count: number; days: number }>();
	let patients = 0;
	for (const patient of dataset.patients(split)) {
		const facts = { observed: dataset.observedOf(patient), death: dataset.deathOf(patient) };
		const periods = indexPeriods(facts, lookBackDays);
		patients += Number(periods.length > 0);
		for (const { start, end } of periods)
			for (const date of newYears(start, end)) {
				const atRisk = timeAtRisk(facts, dayOfIsoDate(date) as number, lookBackDays);
				if (!atRisk) continue;
				const sum = sums.get(date) ?? { count: 0, days: 0 };
				sum.count += 1;
				sum.days += Math.min(followedDays, atRisk.until - atRisk.from);
				sums.set(date, sum);
			}
	}
	const dates = [...sums].map(([date, sum]) => ({ date, ...sum }));
	const [best] = dates.sort((a, b) => b.days - a.days || (a.date < b.date ? -1 : 1));
	return { best: best && best.days > 0 ? best : undefined, patients };
}

/** The firsts of January from one day to another, as dates. */
function* newYears(start: number, end: number) {
	const [first, last] = [start, end].map((day) => new Date(isoDate(day)).getUTCFullYear());
	for (let year = first; year <= last; year++) {
		const date = `${String(year).padStart(4, "0")}-01-01`;
		const day = dayOfIsoDate(date);
		if (day !== undefined && day >= start && day <= end) yield date;
	}
}
