import { thousands } from "../../base/thousands.js";
import {
	dateOf,
	dayMilliseconds,
	isoDate,
	monthDays,
	type TimeAxis,
	yearDays,
} from "../../base/time.js";

/** How a patient's times are shown: as ages if the birth is known, else as dates or days. */
export interface Clock {
	readonly axis: TimeAxis;
	/** The day of birth; null or undefined if unknown. */
	readonly birth?: number | null;
}

export type AxisTicks = ReturnType<typeof timeAxis>;

const yearMonths = 12;

/** Ticks at round ages, years or days; about `most` of them. */
export function timeAxis(
	clock: Clock,
	[from, to]: readonly [from: number, to: number],
	most: number,
) {
	const days = to - from;
	if (!isAge(clock) && clock.axis === "dates") return calendarAxis([from, to], most);
	const origin = isAge(clock) ? clock.birth : 0;
	const [unit, name] =
		isAge(clock) || days >= 3 * yearDays
			? [yearDays, "years"]
			: days >= 3
				? [1, "days"]
				: [1 / 24, "hours"];
	const [first, last] = [(from - origin) / unit, (to - origin) / unit];
	const ticks = roundNumbers(first, last, most);
	return {
		label: isAge(clock) ? "age in years" : `time in ${name}`,
		ticks: ticks.map((value) => origin + value * unit),
		format: (time: number) => thousands(Number(((time - origin) / unit).toFixed(6))),
	};
}

const isAge = (clock: Clock): clock is Clock & { readonly birth: number } =>
	typeof clock.birth === "number" && Number.isFinite(clock.birth);

/** Multiples of 1, 2 or 5 times a power of ten. */
export function roundNumbers(from: number, to: number, most: number): number[] {
	const least = (to - from) / Math.max(1, most);
	if (!(least > 0)) return [from];
	const power = 10 ** Math.floor(Math.log10(least));
	const step = ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10) * power;
	const ticks: number[] = [];
	for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++)
		ticks.push(Number((i * step).toPrecision(12)));
	return ticks;
}

function calendarAxis([from, to]: readonly [from: number, to: number], most: number) {
	const months = (to - from) / monthDays;
	if (months < 2) return { label: "date", ticks: roundNumbers(from, to, most), format: isoDate };
	const least = months / Math.max(1, most);
	const step = [1, 3, 6, 12, 24, 60, 120, 240, 600].find((size) => size >= least) ?? 1200;
	const first = dateOf(from);
	const start = Math.floor((first.getUTCFullYear() * yearMonths + first.getUTCMonth()) / step);
	const ticks: number[] = [];
	for (let i = start; ; i++) {
		const date = Date.UTC(Math.floor((i * step) / yearMonths), (i * step) % yearMonths, 1);
		const time = date / dayMilliseconds;
		if (time > to) break;
		if (time >= from) ticks.push(time);
	}
	return {
		label: step >= yearMonths ? "year" : "month",
		ticks,
		format: (time: number) =>
			step >= yearMonths
				? `${dateOf(time).getUTCFullYear()}`
				: dateOf(time).toISOString().slice(0, 7),
	};
}

/** One time in words: age 59.3, 2012-03, day 412. */
export function timeName(clock: Clock, time: number): string {
	if (isAge(clock)) return `age ${inYears(clock, time)}`;
	if (clock.axis === "dates") return dateOf(time).toISOString().slice(0, 7);
	return `day ${thousands(Math.round(time))}`;
}

/** Two times in words: age 59.3–60, 2012-03 to 2012-11. */
export function spanName(clock: Clock, from: number, to: number): string {
	const [first, last] = [timeName(clock, from), timeName(clock, to)];
	if (first === last) return first;
	if (isAge(clock)) return `${first}–${inYears(clock, to)}`;
	return `${first} to ${last}`;
}

const inYears = (clock: Clock & { readonly birth: number }, time: number) =>
	((time - clock.birth) / yearDays).toFixed(1);
