import { quoted } from "./store.js";
import { firstYear, lastYear } from "./years.js";

/**
 * SQL for the days since 1970-01-01 (UTC, with fractions) that a text stands for, NULL if it is no
 * date: ISO dates and timestamps, with or without a zone, 2020/01/31 and 20200131. Whoever writes
 * dates in another way says how (`format` as in strptime: %d/%m/%Y), for 03/04/2020 may be March or
 * April. Whether the year can be meant is for the caller to ask: `isFarOff`.
 */
export function daysFromText(expression: string, format?: string): string {
	const text = `trim(${expression})`;
	const days = (timestamp: string) => `epoch(${timestamp}) / 86400.0`;
	// DuckDB takes words such as infinity for dates, and 1/2/20 for a day of the year 1.
	const parsed = (as: string) => days(`try_strptime(${text}, ${quoted(as)})`);
	if (format) return `(CASE WHEN regexp_matches(${text}, '[0-9]') THEN ${parsed(format)} END)`;
	// Nearly all dates are 2020-01-31 without blanks: they are spared the rest, which is slower.
	return `(CASE WHEN strlen(${expression}) = 10 AND ${expression}[5] = '-'
			THEN date_diff('day', DATE '1970-01-01', try_cast(${expression} AS DATE))::DOUBLE
		WHEN regexp_full_match(${text}, '[0-9]{4}[-/][0-9]{1,2}[-/][0-9]{1,2}([T ] *[0-9].*)?')
			THEN ${days(`try_cast(try_cast(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`)}
		WHEN regexp_full_match(${text}, '[0-9]{8}') THEN ${parsed("%Y%m%d")} END)`;
}

/** The same for a column that holds dates or timestamps already. */
export const daysFromTimestamp = (expression: string): string =>
	`(epoch(try_cast(${expression} AS TIMESTAMP)) / 86400.0)`;

const dayOfYear = (year: number) => Date.UTC(year, 0) / 86_400_000;
const [first, end] = [dayOfYear(firstYear), dayOfYear(lastYear + 1)];

/** SQL for a condition: a year can be one of a record; shifted dates reach far into the future. */
export const isYear = (year: string): string => `(${year} BETWEEN ${firstYear} AND ${lastYear})`;

/** SQL for a condition: days of a year that cannot be, infinite ones too; NULL of NULL. */
export const isFarOff = (days: string): string => `(${days} < ${first} OR ${days} >= ${end})`;
