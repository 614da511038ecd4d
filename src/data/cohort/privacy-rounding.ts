import { yearDays } from "../../base/time.js";
import type { Manifest } from "./manifest.js";

/*
 * Extreme values belong to single patients and could identify them. They are rounded up before they are
 * written or shown, so that they remain upper bounds.
 */

/** Few people are older than 90, so a higher age could identify them: it is shown as 90. */
export const oldestShownAgeDays = 90 * yearDays;

/** How maxima are rounded up, for texts. */
export const roundingRule =
	"to whole years, below a year to 30 days, below 30 days to a power of two; records to 5, from 100 on to two digits";

const upTo = (step: number, value: number): number => Math.ceil(value / step - 1e-9) * step;

/** Rounds a duration up to whole years; below a year to 30 days; below 30 days to a power of two. */
export function roundUpDays(days: number): number {
	if (!(days > 0)) return 0;
	if (days >= yearDays) return upTo(yearDays, days);
	if (days >= 30) return Math.min(upTo(30, days), yearDays);
	return Math.min(2 ** Math.ceil(Math.log2(days) - 1e-9), 30);
}

/** Rounds an age up in the same way, to at most 90 years. */
export const roundUpAge = (days: number): number => Math.min(roundUpDays(days), oldestShownAgeDays);

/** Rounds a number of records above 10 up to a multiple of 5, from 100 on to two significant digits. */
export function roundUpCount(count: number): number {
	if (count <= 10) return count;
	return upTo(count < 100 ? 5 : 10 ** (Math.floor(Math.log10(count)) - 1), count);
}

/** The longest history and the greatest age at an event. */
export type TimeRange = NonNullable<Manifest["reach"]>;

/** Rounds up the exact extremes that datasets of earlier versions contain. */
export const roundUpTimeRange = ({ longestDays, oldestDays }: TimeRange): TimeRange => ({
	longestDays: roundUpDays(longestDays),
	oldestDays: oldestDays === null ? null : roundUpAge(oldestDays),
});
