import { quoted } from "./store.js";

/**
 * SQL for the days since 1970-01-01 (UTC, with fractions) that a text stands for, NULL if it is no
 * date: ISO dates and timestamps, with or without a zone, and 20200131. Whoever writes dates in
 * another way says how (`format` as in strptime: %d/%m/%Y), for 03/04/2020 may be March or April.
 */
export function daysFromText(expression: string, format?: string): string {
	const text = `trim(${expression})`;
	if (format) return `(epoch(try_strptime(${text}, ${quoted(format)})) / 86400.0)`;
	const days = (timestamp: string) => `epoch(${timestamp}) / 86400.0`;
	const date = (day: string) =>
		`date_diff('day', DATE '1970-01-01', try_cast(${day} AS DATE))::DOUBLE`;
	// Nearly all dates are 2020-01-31 without blanks: they are spared the rest, which is slower.
	// The digit keeps out the words DuckDB takes for dates: epoch, infinity.
	return `(CASE WHEN strlen(${expression}) = 10 AND ${expression}[5] = '-' THEN ${date(expression)}
		WHEN ${text}[1] BETWEEN '0' AND '9' THEN CASE length(${text})
			WHEN 10 THEN ${date(text)}
			WHEN 8 THEN ${days(`try_strptime(${text}, '%Y%m%d')`)}
			ELSE ${days(`try_cast(try_cast(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`)} END END)`;
}

/** The same for a column that holds dates or timestamps already. */
export const daysFromTimestamp = (expression: string): string =>
	`(epoch(CAST(${expression} AS TIMESTAMP)) / 86400.0)`;
