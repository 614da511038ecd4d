/** The years that a record can be of. */
export const [firstYear, lastYear] = [1800, 2300] as const;

export const expectedYears = `expected a year between ${firstYear} and ${lastYear}`;
