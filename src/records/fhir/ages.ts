import { InputError } from "../../base/errors.js";
import { type Fields, objectOf, shapeOf, textOf } from "./fields.js";

const year = 365.25;

/** Days in the units of time, by their UCUM codes and by words. */
const units: Readonly<Record<string, number>> = {
	a: year,
	year,
	years: year,
	yr: year,
	y: year,
	mo: year / 12,
	month: year / 12,
	months: year / 12,
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
	if (days !== undefined && age.value >= 0 && age.value * days < 200 * year)
		return age.value * days;
	throw new InputError(
		`${where}: ${field} is ${age.value} of unit ${shapeOf(unit)}; expected an age in years (a), months (mo), weeks (wk), days (d), hours (h) or minutes (min)`,
	);
}
