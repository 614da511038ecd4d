import { yearDays } from "../../base/time.js";
/** The years that a record can be of. */
export const [firstYear, lastYear] = [1800, 2300] as const;

export const expectedYears = `expected a year between ${firstYear} and ${lastYear}`;

/** The oldest that a person can be. */
export const oldestYears = 120;
export const oldestDays = oldestYears * yearDays;

/** The farthest a day on an axis of the source's own can be from its origin. */
export const farthestDay = 1e10;
