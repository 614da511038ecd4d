import { yearDays } from "../../base/time.js";
export const timeUnits = ["date", "age-days", "age-years", "days"] as const;
/** What a column of times holds. */
export type TimeIs = (typeof timeUnits)[number];

/** The unit that a column's name states. */
export function unitNamed(name: string): TimeIs | undefined {
	const words = name.trim().toLowerCase();
	if (/^age_?(in_?)?days$/.test(words)) return "age-days";
	if (/^age_?(in_?)?years$/.test(words)) return "age-years";
	return undefined;
}

/** Days in one of a column's numbers. */
export const daysIn: Readonly<Record<Exclude<TimeIs, "date">, number>> = {
	"age-days": 1,
	"age-years": yearDays,
	days: 1,
};
