import { thousands } from "./thousands.js";

/**
 * Every time is a number of days: since 1970-01-01 if the records have dates, else since an origin of the source.
 * Ages and durations are days too.
 */

export const dayMilliseconds = 86_400_000;
export const dayMicroseconds = 1000 * dayMilliseconds;
export const yearDays = 365.25;
export const monthDays = yearDays / 12;

/** A unit of lengths of time, and how many days it has. */
export interface TimeUnit {
	readonly name: "hours" | "days" | "years";
	readonly days: number;
}

/** The unit in which lengths of time are shown, the longest of which has so many days. */
export const unitFor = (longestDays: number): TimeUnit =>
	longestDays >= 3 * yearDays
		? { name: "years", days: yearDays }
		: longestDays >= 3 || longestDays === 0
			? { name: "days", days: 1 }
			: { name: "hours", days: 1 / 24 };

/** 20 minutes, 6 hours, 3 days, 5.2 months, 2.5 years. */
export function durationName(days: number): string {
	const [size, name] =
		days >= 365
			? [yearDays, "year"]
			: days >= 90
				? [monthDays, "month"]
				: days >= 1 || days === 0
					? [1, "day"]
					: days >= 1 / 24
						? [1 / 24, "hour"]
						: [1 / 1440, "minute"];
	const value = Number((days / size).toFixed(days / size < 100 ? 1 : 0));
	return `${thousands(value)} ${name}${value === 1 ? "" : "s"}`;
}

/** The meaning of day 0: 1970-01-01 (`dates`), or an origin of the source (`days`). */
export type TimeAxis = "dates" | "days";

export const dateOf = (day: number): Date => new Date(Math.round(day * dayMilliseconds));

/** yyyy-mm-dd. */
export const isoDate = (day: number): string => dateOf(day).toISOString().slice(0, 10);

/** The day of a date written as yyyy-mm-dd; undefined if the date does not exist. */
export function dayOfIsoDate(text: string): number | undefined {
	const day = Date.parse(`${text}T00:00:00Z`) / dayMilliseconds;
	return Number.isFinite(day) && isoDate(day) === text ? day : undefined;
}
