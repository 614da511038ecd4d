import { dayMilliseconds, yearDays } from "../../base/time.js";
import { quoted } from "./sql.js";

/** The years that a record can be of. */
export const [firstYear, lastYear] = [1800, 2300] as const;

export const expectedYears = `expected a year between ${firstYear} and ${lastYear}`;

/** The oldest that a person can be. */
export const oldestYears = 120;
export const oldestDays = oldestYears * yearDays;

/** The farthest a day on an axis of the source's own can be from its origin. */
export const farthestDay = 1e10;

/*
 * Dates in text, as SQL for whole files and as a function for the browser. `DATE` is ISO or with slashes, and may
 * have a time and a zone; `COMPACT_DATE` is 20200131.
 */
const DATE = "([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})(?:[T ] *([0-9].*))?";
const COMPACT_DATE = "([0-9]{4})([0-9]{2})([0-9]{2})";

/**
 * SQL for the days since 1970-01-01 (UTC, with fractions) of a text, NULL if it is not a date: ISO dates and
 * timestamps, with or without a zone, 2020/01/31 and 20200131. Other forms need a `format` as in strptime
 * (%d/%m/%Y), because 03/04/2020 is ambiguous. The caller checks the year with `isFarOff`.
 */
export function daysFromText(expression: string, format?: string): string {
	const text = `trim(${expression})`;
	const days = (timestamp: string) => `epoch(${timestamp}) / 86400.0`;
	// DuckDB reads words such as infinity as dates, and 1/2/20 as a day of the year 1.
	const parsed = (as: string) => days(`try_strptime(${text}, ${quoted(as)})`);
	if (format) return `(CASE WHEN regexp_matches(${text}, '[0-9]') THEN ${parsed(format)} END)`;
	// Nearly all dates look like 2020-01-31 without blanks and skip the slower rest.
	return `(CASE WHEN strlen(${expression}) = 10 AND ${expression}[5] = '-'
			THEN date_diff('day', DATE '1970-01-01', try_cast(${expression} AS DATE))::DOUBLE
		WHEN regexp_full_match(${text}, '${DATE}')
			THEN ${days(`try_cast(try_cast(${text} AS TIMESTAMPTZ) AS TIMESTAMP)`)}
		WHEN regexp_full_match(${text}, '${COMPACT_DATE}') THEN ${parsed("%Y%m%d")} END)`;
}

const date = new RegExp(`^${DATE}$`);
const compactDate = new RegExp(`^${COMPACT_DATE}$`);
const mixedSeparators = /^\d+(-\d+\/|\/\d+-)/;

/** The same days for one text; undefined if it is not a date or the year is implausible. */
export function dayOfText(dateText: string): number | undefined {
	const text = dateText.trim();
	const [, year, month = "", day = "", time] = date.exec(text) ?? compactDate.exec(text) ?? [];
	if (year === undefined || mixedSeparators.test(text)) return undefined;
	const iso = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
	const moment = parseMoment(
		time === undefined ? iso : `${iso}T${time.replace(/(^|:)(?=\d(?!\d))/g, "$10")}`,
	);
	// Whole seconds, divided once, as in DuckDB, so the numbers are identical.
	return moment && Math.round(moment.day * dayMilliseconds) / 1000 / 86_400;
}

/** SQL for the days of a column of dates or timestamps. */
export const daysFromTimestamp = (expression: string): string =>
	`(epoch(try_cast(${expression} AS TIMESTAMP)) / 86400.0)`;

const dayOfYear = (year: number) => Date.UTC(year, 0) / dayMilliseconds;
const [first, end] = [dayOfYear(firstYear), dayOfYear(lastYear + 1)];

/** SQL condition: the year is plausible; shifted dates reach far into the future. */
export const isYear = (year: string): string => `(${year} BETWEEN ${firstYear} AND ${lastYear})`;

/** SQL condition: the days have an implausible year or are infinite; NULL for NULL. */
export const isFarOff = (days: string): string => `(${days} < ${first} OR ${days} >= ${end})`;

/** A moment with a precision of a day, a month or a year. */
export interface Moment {
	/** The start in days since 1970-01-01 UTC. */
	readonly day: number;
	/**
	 * The number of days by which it may be later: 365 or 366 for a year. A time in a zone east of Greenwich has the
	 * offset of the zone, because there a birth on the same date starts earlier than in UTC.
	 */
	readonly slack: number;
}

const form =
	/^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?(?:(Z)|([+-])(\d\d):(\d\d))?)?)?)?$/i;

const dayOf = (year: number, month: number, day: number): number =>
	new Date(0).setUTCFullYear(year, month - 1, day) / dayMilliseconds;

/** Parses a FHIR date, dateTime or instant: `2020`, `2020-05`, `2020-05-17`, `2020-05-17T10:30:00Z`. */
export function parseMoment(text: string): Moment | undefined {
	const [match, y, mo, d, h, min, s, , sign, zoneHours, zoneMinutes] = form.exec(text.trim()) ?? [];
	if (match === undefined) return undefined;
	const year = Number(y);
	if (year < firstYear || year > lastYear) return undefined;
	if (mo === undefined) {
		const start = dayOf(year, 1, 1);
		return { day: start, slack: dayOf(year + 1, 1, 1) - start };
	}
	const month = Number(mo);
	if (month < 1 || month > 12) return undefined;
	const first = dayOf(year, month, 1);
	const length = dayOf(year, month + 1, 1) - first;
	if (d === undefined) return { day: first, slack: length };
	const date = Number(d);
	if (date < 1 || date > length) return undefined;
	const day = first + date - 1;
	if (h === undefined) return { day, slack: 0 };
	const seconds = Number(s ?? 0);
	if (Number(h) > 23 || Number(min) > 59 || seconds >= 61) return undefined;
	const zone = zoneHours === undefined ? 0 : Number(zoneHours) * 60 + Number(zoneMinutes);
	if (zone > 14 * 60 || Number(zoneMinutes ?? 0) > 59) return undefined;
	const east = sign === "-" ? -zone : zone;
	return {
		day: day + (Number(h) * 3600 + Number(min) * 60 - east * 60 + seconds) / 86_400,
		slack: Math.max(0, east) / 1440,
	};
}

/** Which number of 03/04/2020 is the day. As `--date-format`: %d/%m/%Y or %m/%d/%Y. */
export type DateOrder = "day first" | "month first";

const numeric = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T ,]+(\d.*))?$/;
const named = /^(\d{1,2})[-. /]+([a-z]{3})[a-z]*[-. /]+(\d{4})(?:[T ,]+(\d.*))?$/i;
const months = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const halfDay = /^(\d{1,2}):(\d\d)(:\d\d(?:\.\d+)?)? *([ap])\.?m\.?$/i;

/** 1:05 PM as 13:05. */
function time24(text: string): string {
	const [, hours, minutes, seconds = "", half] = halfDay.exec(text) ?? [];
	if (hours === undefined || Number(hours) > 12) return text;
	const hour = (Number(hours) % 12) + (half?.toLowerCase() === "p" ? 12 : 0);
	return `${hour}:${minutes}${seconds}`;
}

const dayOfParts = (year: string, month: number | string, day: string, time: string | undefined) =>
	dayOfText(`${year}-${month}-${day}${time === undefined ? "" : ` ${time24(time)}`}`);

/**
 * The days of a date that begins with the day or the month: 31.01.2020, 1/31/2020 5:00 PM, 31-JAN-2020. Undefined
 * if it is not such a date.
 */
export function dayInOrder(dateText: string, order: DateOrder): number | undefined {
	const text = dateText.trim();
	const [, first = "", , second = "", year, time] = numeric.exec(text) ?? [];
	if (year !== undefined)
		return order === "day first"
			? dayOfParts(year, second, first, time)
			: dayOfParts(year, first, second, time);
	const [, day = "", name = "", namedYear, namedTime] = named.exec(text) ?? [];
	const month = months.indexOf(name.toLowerCase()) + 1;
	return namedYear === undefined || month === 0
		? undefined
		: dayOfParts(namedYear, month, day, namedTime);
}

/**
 * What a date says about the order: "either" if both are possible. Dates with dots begin with the day wherever they
 * are in use. Undefined if it is not written in such an order.
 */
export function orderOf(dateText: string): DateOrder | "either" | undefined {
	const text = dateText.trim();
	const [, , sign] = numeric.exec(text) ?? [];
	const day = dayInOrder(text, "day first");
	if (sign === undefined) return day === undefined ? undefined : "day first";
	const month = dayInOrder(text, "month first");
	if (day === undefined) return month === undefined ? undefined : "month first";
	return sign === "." || month === undefined ? "day first" : day === month ? undefined : "either";
}
