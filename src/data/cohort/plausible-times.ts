import { InputError } from "../../base/errors.js";
import { dateOf, type TimeAxis, yearDays } from "../../base/time.js";
import { oldestDays, oldestYears } from "../records/dates.js";
import type { Loaded, TimeIs } from "../records/rows.js";
import type { Store } from "../records/store.js";
import { isAge } from "../records/tables/column-names.js";
import { recordUnit } from "../records/tables/values.js";
import { isAfterDeathSql } from "./reading/rules.js";

/*
 * Checks that find times read in a wrong unit. A result that is impossible is refused; one that is only unusual is a
 * warning. Warnings are stored with the dataset, so they never hold the time of a single patient.
 */

/** Nearly all. */
const nearly = 0.95;
const half = 0.5;

/** Nobody is 120 years old, so days that were read in hours, or hours in minutes, make everybody younger than this. */
const youngYears = 5;

const dayText = (day: number, axis: TimeAxis): string =>
	axis === "dates" ? dateOf(day).toISOString().slice(0, 10) : `day ${Number(day.toFixed(2))}`;

/** Checks births and deaths of a file that are numbers, from tables `patient` and `person`. */
export async function peopleWarnings(store: Store, loaded: Loaded): Promise<string[]> {
	const unit = loaded.times?.people;
	if (unit === undefined || unit === "date") return [];
	const deaths = await deathWarnings(store, unit);
	return isAge(recordUnit(loaded)) ? deaths : [...(await birthWarnings(store, unit)), ...deaths];
}

async function birthWarnings(store: Store, unit: TimeIs): Promise<string[]> {
	const [ages] = await store.all<
		Record<"births" | "discarded" | "known" | "young" | "old" | "median", number>
	>(`
		SELECT count(*) AS births, count(*) FILTER (age < 0) AS discarded, count(*) FILTER (age >= 0) AS known,
			count(*) FILTER (age BETWEEN 0 AND ${youngYears * yearDays}) AS young,
			count(*) FILTER (age > ${oldestDays}) AS old,
			coalesce(median(age) FILTER (age >= 0), 0) / ${yearDays} AS median
		FROM (SELECT any_value(patient.first) - any_value(person.birth) AS age
			FROM patient JOIN person ON person.patient = patient.key
			WHERE person.birth <> 0 GROUP BY patient.key)`);
	const { births, discarded, known, young, old, median } = ages;
	if (births === 0) return [];
	const remedy =
		"name their unit with `peopleTimeIs`, or the column of the age in years at time 0 with `age`";
	const late =
		discarded >= half * births
			? [
					`${discarded} of ${births} births lie after the first record of their patient, and are not used; births were read in ${unit}: ${remedy}`,
				]
			: [];
	if (known === 0) return late;
	const say = (count: number, what: string) =>
		`${count} of ${known} patients whose birth is known are ${what} at their first record (median ${Number(median.toPrecision(3))} years); births were read in ${unit}`;
	if (old >= nearly * known)
		throw new InputError(`${say(old, `older than ${oldestYears} years`)}; ${remedy}`, {
			field: "peopleTimeIs",
			value: unit,
		});
	return young >= nearly * known
		? [...late, `${say(young, `younger than ${youngYears} years`)}: unless they are, ${remedy}`]
		: late;
}

async function deathWarnings(store: Store, unit: TimeIs): Promise<string[]> {
	const [counts] = await store.all<{ deaths: number; early: number }>(
		`SELECT count(death) AS deaths, count(*) FILTER (${isAfterDeathSql}) AS early FROM patient`,
	);
	const { deaths, early } = counts;
	return deaths > 0 && early >= half * deaths
		? [
				`${early} of ${deaths} deaths lie before the day of the last record of their patient; deaths were read in ${unit}: check them, and name another unit with \`peopleTimeIs\``,
			]
		: [];
}

/**
 * Labels from a file that see an event, `unseen` labels without one up to their time, and `late` labels more than a day
 * after the last record of their patient; in days, the `first` label that sees an event and the `last` record.
 */
export type LabelTimes = Readonly<Record<"labels" | "unseen" | "late" | "first" | "last", number>>;

/** The times of the first and the last record of a dataset, in days. */
export type RecordRange = Readonly<Record<"first" | "last", number>>;

/** Checks the times of labels. Reads the range of the records only where they look late. */
export async function labelTimesWarnings(
	file: string,
	{ labels, unseen, late, first, last }: LabelTimes,
	unit: TimeIs,
	range: () => Promise<RecordRange>,
): Promise<string[]> {
	const isDates = unit === "date";
	const remedy = isDates
		? "check their times"
		: `check their times, which were read in ${unit}, and name another unit with \`labelTimeIs\``;
	const warnings =
		unseen > 0 && unseen >= half * (labels + unseen)
			? [
					`${file}: ${unseen} of ${labels + unseen} labels lie before the first record of their patient: ${remedy}`,
				]
			: [];
	// Data with dates often end at the labels, or months before.
	const slack = isDates ? yearDays : 1;
	if (labels === 0 || late < nearly * labels || (isDates && first <= last + slack)) return warnings;
	const records = await range();
	const gap = first - records.last;
	if (gap <= slack)
		return isDates
			? warnings
			: [
					...warnings,
					`${file}: ${late} of ${labels} labels lie more than a day after the last record of their patient, and see every event: ${remedy}`,
				];
	const what = `${file}: all ${labels} labels lie after the last record of everybody`;
	if (!isDates && gap > records.last - records.first)
		throw new InputError(
			`${what}, on ${dayText(records.last, "days")}, the first of them on ${dayText(first, "days")}: each would see every event; ${remedy}, or leave the times out if every event may be seen`,
			{ field: "labelTimeIs", value: unit },
		);
	return [
		...warnings,
		`${what}${isDates ? ", by more than a year" : ""}, and see every event: ${remedy}`,
	];
}

/** Numbers of written records, and of those outside of the observation periods; the ranges of both in days. */
type ObservedRecords = Readonly<
	Record<"records" | "outside" | `${"first" | "last"}${"Record" | "Observed"}`, number>
>;

/** Checks observation periods of a source against the records. */
export function observationWarnings(
	{ records, outside, ...days }: ObservedRecords,
	{ axis, observation, times }: Loaded,
): string[] {
	if (observation === undefined || records === 0 || outside < half * records) return [];
	const from = (first: number, last: number) =>
		`from ${dayText(first, axis)} to ${dayText(last, axis)}`;
	const what = `${outside} of ${records} records lie outside the observation of their patient`;
	const remedy =
		observation === "file" && axis === "days"
			? `check the periods, which were read in ${times?.observation}, and name another unit with \`observationTimeIs\``
			: "check the periods";
	if (outside === records && observation === "file")
		throw new InputError(
			`${what}: periods reach ${from(days.firstObserved, days.lastObserved)}, records ${from(days.firstRecord, days.lastRecord)}; ${remedy}`,
			{ field: "observation" },
		);
	return [`${what}; ${remedy}`];
}
