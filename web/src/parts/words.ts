import { isoDate, yearDays } from "../../../src/base/time.js";
import { type Clock, timeName } from "../../../src/evaluate/charts/clock.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";

/** A time with its date and age, as far as they are known: 2012-03-14, age 61.2. */
export function momentText(clock: Clock, time: number): string {
	if (clock.axis !== "dates") return timeName(clock, time);
	const age = clock.birth == null ? "" : `, ${timeName(clock, time)}`;
	return `${isoDate(time)}${age}`;
}

/** A time by its date, or by age or day where dates are not known: 2012-03-14. */
export const dayText = (clock: Clock, time: number): string =>
	clock.axis === "dates" ? isoDate(time) : timeName(clock, time);

/** 1 year, 5 years */
export const yearsText = (years: number): string => counted(years, "year");

/** 1 day, 3 days, 5 months, 2.5 years */
export function durationText(days: number): string {
	const hours = Math.round(days * 24);
	if (hours < 24) return `${hours} h`;
	if (days < 60) return counted(Math.round(days), "day");
	if (days < 730) return `${Math.round(days / 30.4375)} months`;
	const years = days / yearDays;
	return `${years.toFixed(years < 10 ? 1 : 0)} years`;
}

const hundredths = (value: number) => Math.round(value * 100) / 100;

/** The cells of a time in saved tables: its day, and its date and age if they are known. */
export const timeCells = ({ axis, birth }: Clock, time: number) => ({
	time_days: hundredths(time),
	...(axis === "dates" && { date: isoDate(time) }),
	...(birth != null && { age_years: hundredths((time - birth) / yearDays) }),
});
