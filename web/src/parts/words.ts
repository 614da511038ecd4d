import { type Clock, timeName } from "../../../src/figures/clock.js";
import { counted } from "../../../src/figures/numbers.js";

const dayMilliseconds = 86_400_000;

/** Rounded: a day as so many units, times their days, may fall just short of that day. */
export const dateText = ({ unitDays }: Clock, time: number): string =>
	new Date(Math.round(time * unitDays * dayMilliseconds)).toISOString().slice(0, 10);

/** One time in words, as exactly as it is known: 2012-03-14, age 61.2. */
export function momentText(clock: Clock, time: number): string {
	if (clock.axis !== "dates") return timeName(clock, time);
	const age = clock.birth == null ? "" : `, ${timeName(clock, time)}`;
	return `${dateText(clock, time)}${age}`;
}

/** A change of a probability: +1.2 points. */
export function pointsText(change: number): string {
	const points = 100 * change;
	const size = Math.abs(points);
	if (size < 0.005) return "±0";
	return `${points > 0 ? "+" : "−"}${size.toFixed(size >= 10 ? 0 : size >= 1 ? 1 : 2)}`;
}

/** 1 day, 3 days, 5 months, 2.5 years */
export function durationText(days: number): string {
	const hours = Math.round(days * 24);
	if (hours < 24) return `${hours} h`;
	if (days < 60) return counted(Math.round(days), "day");
	if (days < 730) return `${Math.round(days / 30.4375)} months`;
	const years = days / 365.25;
	return `${years.toFixed(years < 10 ? 1 : 0)} years`;
}
