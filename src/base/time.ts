/**
 * Every time is a number of days: since 1970-01-01 if the records have dates, else since an origin of the source.
 * Ages and durations are days too.
 */

export const dayMilliseconds = 86_400_000;
export const yearDays = 365.25;
export const monthDays = yearDays / 12;

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
