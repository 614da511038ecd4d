import type { TimeAxis } from "../../infer/asking/index.js";

const yearDays = 365.25;

/** Units times days is not quite the day it was made of. */
const wholeSeconds = (days: number) => Math.round(days * 86_400) / 86_400;

/** A time for programs: a date where dates were given, a day, and the age where it is known. */
export function when(time: number, birth: number | null, { axis, unitDays }: TimeAxis) {
	const day = wholeSeconds(time * unitDays);
	const isDate = axis === "dates" && Math.abs(day) < 1e7;
	return {
		...(isDate && { date: new Date(day * 86_400_000).toISOString().slice(0, 10) }),
		day,
		ageYears: birth === null ? null : ((time - birth) * unitDays) / yearDays,
	};
}
