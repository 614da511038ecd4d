import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import { expectedYears, firstYear, lastYear, oldestDays } from "../years.js";
import { type Fields, objectOf, shapeOf, textOf } from "./json-fields.js";

/** A moment that may be known only to the day, the month or the year. */
export interface Moment {
	/** Days since 1970-01-01 UTC of its start. */
	readonly day: number;
	/**
	 * By how many days it may be later. A year has 365 or 366. A time in a zone east of Greenwich has
	 * the zone's distance: there, a birth on the same date starts before it does in UTC.
	 */
	readonly slack: number;
}

const form =
	/^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d(?:\.\d+)?))?(?:(Z)|([+-])(\d\d):(\d\d))?)?)?)?$/i;

const dayOf = (year: number, month: number, day: number): number =>
	new Date(0).setUTCFullYear(year, month - 1, day) / 86_400_000;

/** What a FHIR date, dateTime or instant says: `2020`, `2020-05`, `2020-05-17`, `2020-05-17T10:30:00Z`. */
export function parseMoment(text: string): Moment | undefined {
	const [found, y, mo, d, h, min, s, , sign, zoneHours, zoneMinutes] = form.exec(text.trim()) ?? [];
	if (found === undefined) return undefined;
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

/** The moment in a field; undefined when the field is absent. */
export function momentIn(
	record: Fields | undefined,
	field: string,
	where: string,
): Moment | undefined {
	const value = record?.[field];
	if (value === undefined || value === null) return undefined;
	const moment = typeof value === "string" ? parseMoment(value) : undefined;
	if (moment) return moment;
	throw new InputError(
		`${where}: ${field} is ${shapeOf(value)}; expected a date such as 2020, 2020-05, 2020-05-17 or 2020-05-17T10:30:00Z; ${expectedYears}: mend it or leave the resource out`,
	);
}

/** Days per unit of time, by UCUM code and by word. */
const daysPerUnit: Readonly<Record<string, number>> = {
	a: yearDays,
	year: yearDays,
	years: yearDays,
	yr: yearDays,
	y: yearDays,
	mo: yearDays / 12,
	month: yearDays / 12,
	months: yearDays / 12,
	wk: 7,
	week: 7,
	weeks: 7,
	d: 1,
	day: 1,
	days: 1,
	h: 1 / 24,
	min: 1 / 1440,
};

/** The days in an Age such as `{"value": 45, "code": "a"}`; undefined when the field has no number. */
export function ageIn(resource: Fields, field: string, where: string): number | undefined {
	const age = objectOf(resource[field]);
	if (typeof age?.value !== "number") return undefined;
	const unit = textOf(age.code) ?? textOf(age.unit);
	const days = age.value * (daysPerUnit[unit?.toLowerCase() ?? ""] ?? Number.NaN);
	if (days >= 0 && days < oldestDays) return days;
	throw new InputError(
		`${where}: ${field} is ${age.value} of unit ${shapeOf(unit)}; expected an age in years (a), months (mo), weeks (wk), days (d), hours (h) or minutes (min)`,
	);
}
