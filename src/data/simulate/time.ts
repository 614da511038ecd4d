import { dayMilliseconds, isoDate } from "../../base/time.js";
/** Days are whole numbers since 1970-01-01. Claims are recorded from 2000-01-01 to 2019-12-31. */
export const firstDay = Date.UTC(2000, 0, 1) / dayMilliseconds;
export const lastDay = Date.UTC(2019, 11, 31) / dayMilliseconds;

/**
 * Rates that change slowly (with age, season and time since enrolment) are constant within blocks of days that are
 * fixed on the calendar, so simulator and oracle both compute them exactly.
 */
export const blockDays = 30;

export function blockOf(day: number): number {
	return Math.floor(day / blockDays);
}

const dates = new Map<number, string>();

/** Formats a date, with a cache: millions of records fall on a few thousand days. */
export function dateText(day: number): string {
	let date = dates.get(day);
	if (date === undefined) {
		date = isoDate(day);
		dates.set(day, date);
	}
	return date;
}
