import { InputError } from "../../../base/errors.js";
import { yearDays } from "../../../base/time.js";
import { type Moment, parseMoment } from "../dates.js";
import { expectedYears, oldestDays } from "../years.js";
import { type Fields, objectOf, shapeOf, textOf } from "./json-fields.js";

/** The moment in a field; undefined if the field is absent. */
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
		`${where}: ${field} is ${shapeOf(value)}; expected a date such as 2020, 2020-05, 2020-05-17 or 2020-05-17T10:30:00Z; ${expectedYears}: correct it or leave the resource out`,
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

/** The days of an Age such as `{"value": 45, "code": "a"}`; undefined if the field has no number. */
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
