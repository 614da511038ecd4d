import { InputError } from "../../../src/base/errors.js";
import { parseMoment } from "../../../src/records/fhir/dates.js";
import { nothing } from "../../../src/records/nothing.js";
import { daysIn, type TimeIs } from "../../../src/records/tables/time-units.js";
import { expectedYears } from "../../../src/records/years.js";

/** As far as a number of days may go, either way: some 2,700 years. */
const mostDays = 1e6;

export const shown = (text: string) =>
	JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

const date = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[T ] *(\d.*))?$/;
const compactDate = /^(\d{4})(\d\d)(\d\d)$/;

/** Days since 1970-01-01; nothing where it is no date, or one that is known to the month only. */
function dayOfDate(text: string): number | undefined {
	const [, year, month = "", day = "", time] = date.exec(text) ?? compactDate.exec(text) ?? [];
	if (year === undefined) return undefined;
	const iso = `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
	const moment = parseMoment(time === undefined ? iso : `${iso}T${time}`);
	// Whole seconds, divided once: the very number that the database of `prepare` finds.
	return moment && Math.round(moment.day * 86_400_000) / 1000 / 86_400;
}

/** The days that a time stands for, on the axis of its column. */
export function dayOf(text: string, unit: TimeIs, what: string): number {
	if (nothing.includes(text))
		throw new InputError(
			`${what} is empty; every record needs a time: fill it in or remove the row`,
		);
	if (unit === "date") {
		const day = dayOfDate(text);
		if (day !== undefined) return day;
		throw new InputError(
			`${what} is ${shown(text)}; expected a date such as 2020-01-31 or 2020-01-31T12:30:00Z, ${expectedYears}; for ages name the column age_days or age_years`,
		);
	}
	const number = Number(text);
	if (!Number.isFinite(number))
		throw new InputError(`${what} is ${shown(text)}; expected a number of days or years`);
	const day = number * daysIn[unit];
	if (Math.abs(day) <= mostDays) return day;
	throw new InputError(
		`${what} is ${shown(text)}; expected at most ${mostDays.toLocaleString("en-US")} days either way: see whether it counts seconds, or is a date`,
	);
}
