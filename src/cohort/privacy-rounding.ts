import { yearDays } from "../base/time.js";
import type { Manifest } from "./manifest.js";

/*
 * Extreme values belong to single patients, who could be told by them. What is written down or shown of
 * them is rounded up, so that it still bounds what it stands for.
 */

/** Ages above 90 years are few enough to tell people by: they are not told apart. */
export const oldestShownAgeDays = 90 * yearDays;

const upTo = (step: number, value: number): number => Math.ceil(value / step - 1e-9) * step;

/** A length of time: up to whole years, below a year to 30 days, below 30 days to a power of two. */
export function roundUpDays(days: number): number {
	if (!(days > 0)) return 0;
	if (days >= yearDays) return upTo(yearDays, days);
	if (days >= 30) return Math.min(upTo(30, days), yearDays);
	return Math.min(2 ** Math.ceil(Math.log2(days) - 1e-9), 30);
}

/** An age: the same, and 90 years for all that are older. */
export const roundUpAge = (days: number): number => Math.min(roundUpDays(days), oldestShownAgeDays);

/** A number of records: up to a multiple of 5, from 100 on to two digits. */
export function roundUpCount(count: number): number {
	if (count <= 10) return count;
	return upTo(count < 100 ? 5 : 10 ** (Math.floor(Math.log10(count)) - 1), count);
}

/** How far histories reach. */
export type TimeRange = NonNullable<Manifest["reach"]>;

/** The same without the extremes of single patients, which datasets of earlier versions hold. */
export const roundUpTimeRange = ({ longestDays, oldestDays }: TimeRange): TimeRange => ({
	longestDays: roundUpDays(longestDays),
	oldestDays: oldestDays === null ? null : roundUpAge(oldestDays),
});
