import { yearDays } from "../base/time.js";
/** The years that a record can be of. */
export const [firstYear, lastYear] = [1800, 2300] as const;

export const expectedYears = `expected a year between ${firstYear} and ${lastYear}`;

/** The oldest that a person can be, in days; before birth as long as after it, for the sake of one bound. */
export const oldestDays = 200 * yearDays;

/** The farthest a day on an axis of the source's own can be from its origin. */
export const farthestDay = 1e10;
