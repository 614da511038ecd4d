import { isoDate, yearDays } from "../../../src/base/time.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";

const hundredths = (value: number) => Math.round(value * 100) / 100;

/** Column names of a time in copied tables: days, and date and age if they are known. */
export const timeNames = ({ axis, birth }: Clock): string[] => [
	"time_days",
	...(axis === "dates" ? ["date"] : []),
	...(birth == null ? [] : ["age_years"]),
];

/** The cells of these columns. */
export const timeCells = (clock: Clock, time: number): (string | number)[] => [
	hundredths(time),
	...(clock.axis === "dates" ? [isoDate(time)] : []),
	...(clock.birth == null ? [] : [hundredths((time - clock.birth) / yearDays)]),
];
