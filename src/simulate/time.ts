import { dayMilliseconds, isoDate } from "../base/time.js";
/** Days are whole and counted from 1970-01-01. 2000-01-01 and 2019-12-31: when claims are kept. */
export const firstDay = Date.UTC(2000, 0, 1) / dayMilliseconds;
export const lastDay = Date.UTC(2019, 11, 31) / dayMilliseconds;

/**
 * Rates that change slowly (with age, season and time since enrolment) are held for a block of days,
 * fixed on the calendar: simulator and oracle both know them exactly.
 */
export const blockDays = 30;

export function blockOf(day: number): number {
	return Math.floor(day / blockDays);
}

const dates = new Map<number, string>();

/** As a date; remembered, since millions of records fall on a few thousand days. */
export function dateText(day: number): string {
	let date = dates.get(day);
	if (date === undefined) {
		date = isoDate(day);
		dates.set(day, date);
	}
	return date;
}
