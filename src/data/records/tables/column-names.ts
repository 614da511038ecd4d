import { yearDays } from "../../../base/time.js";
import { farthestDay, oldestDays } from "../dates.js";
import { type TimeIs, timeUnits } from "../rows.js";
import columnNames from "./column-names.json" with { type: "json" };

/** Column names in groups: the first group with a match counts; two matches in a group are ambiguous. */
export type Groups = readonly (readonly string[])[];

/** The columns of the first group with a match. */
export function matchingColumns<Column extends { readonly name: string }>(
	columns: readonly Column[],
	groups: Groups,
): readonly Column[] {
	for (const group of groups) {
		const matches = columns.filter(({ name }) => group.includes(name.trim().toLowerCase()));
		if (matches.length > 0) return matches;
	}
	return [];
}

/**
 * The usual names of columns, which are found by them. `drugCode`: the most specific of several codes of a drug counts.
 * `offset`: minutes since the admission to the unit, as in eICU. `anchorYear` and `anchorAge`: a year in which the
 * patient had an age, as in MIMIC-IV. `personAge`: an age at a time that the name does not tell.
 */
export const usualNames: Readonly<Record<keyof typeof columnNames, Groups>> = columnNames;

/** Names of the time column: a date, unless the times are ages or days. */
export function timeNames(numbers: boolean): Groups {
	const { date, age, offset, unit } = usualNames;
	return numbers ? [...age, ...offset, ...unit, ...date] : [...date, ...age, ...offset, ...unit];
}

export const isTimeUnit = (unit: string | undefined): unit is TimeIs =>
	timeUnits.some((known) => known === unit);

/** Days per unit, also of those that names of columns state and no option has. */
export const daysIn = {
	"age-days": 1,
	"age-years": yearDays,
	days: 1,
	hours: 1 / 24,
	minutes: 1 / 1440,
	seconds: 1 / 86_400,
	weeks: 7,
	months: yearDays / 12,
	years: yearDays,
} as const;

/** The unit that the name of a column of times states: start_day, time_minutes and age_years do. */
export function statedUnit(name: string): keyof typeof daysIn | undefined {
	const words = name.trim().toLowerCase();
	if (/^age_?(in_?)?days$/.test(words)) return "age-days";
	if (/^age_?(in_?)?years$/.test(words) || words === "ageaticd") return "age-years";
	if (usualNames.offset.some((names) => names.includes(words))) return "minutes";
	const [, unit] = /(?:^|_)(second|minute|hour|day|week|month|year)s?$/.exec(words) ?? [];
	return unit === undefined ? undefined : (`${unit}s` as keyof typeof daysIn);
}

/** The unit of records that the name of their time column implies. A day may be a date. */
export function unitNamed(name: string): TimeIs | undefined {
	const stated = statedUnit(name);
	return isTimeUnit(stated) && !/day\s*$/i.test(name) ? stated : undefined;
}

/** Whether times are ages, with birth at 0. */
export const isAge = (unit: keyof typeof daysIn | "date"): unit is "age-days" | "age-years" =>
	unit === "age-days" || unit === "age-years";

/** The least and greatest plausible time in days. */
export const plausibleDays = (unit: Exclude<TimeIs, "date">): readonly [number, number] =>
	isAge(unit) ? [0, oldestDays] : [-farthestDay, farthestDay];
