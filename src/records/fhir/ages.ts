import { InputError } from "../../base/errors.js";
import { monthDays, yearDays } from "../../base/time.js";
import { type Fields, objectOf, shapeOf, textOf } from "./fields.js";

/** Days in the units of time, by their UCUM codes and by words. */
const units: Readonly<Record<string, number>> = {
	a: yearDays,
	year: yearDays,
	years: yearDays,
	yr: yearDays,
	y: yearDays,
	mo: monthDays,
	month: monthDays,
	months: monthDays,
	wk: 7,
	week: 7,
	weeks: 7,
	d: 1,
	day: 1,
	days: 1,
	h: 1 / 24,
	min: 1 / 1440,
};

/** The days in an Age such as `{"value": 45, "code": "a"}`; nothing when the field has no number. */
export function ageIn(resource: Fields, field: string, where: string): number | undefined {
	const age = objectOf(resource[field]);
	if (typeof age?.value !== "number") return undefined;
	const unit = textOf(age.code) ?? textOf(age.unit);
	const days = unit === undefined ? undefined : units[unit.toLowerCase()];
	if (days !== undefined && age.value >= 0 && age.value * days < 200 * yearDays)
		return age.value * days;
	throw new InputError(
		`${where}: ${field} is ${age.value} of unit ${shapeOf(unit)}; expected an age in years (a), months (mo), weeks (wk), days (d), hours (h) or minutes (min)`,
	);
}
