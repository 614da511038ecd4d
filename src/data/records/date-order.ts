import { dayOfText } from "./dates.js";

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

const dayOf = (year: string, month: number | string, day: string, time: string | undefined) =>
	dayOfText(`${year}-${month}-${day}${time === undefined ? "" : ` ${time24(time)}`}`);

/**
 * The days of a date that begins with the day or the month: 31.01.2020, 1/31/2020 5:00 PM, 31-JAN-2020. Undefined
 * if it is not such a date.
 */
export function dayInOrder(given: string, order: DateOrder): number | undefined {
	const text = given.trim();
	const [, first = "", , second = "", year, time] = numeric.exec(text) ?? [];
	if (year !== undefined)
		return order === "day first"
			? dayOf(year, second, first, time)
			: dayOf(year, first, second, time);
	const [, day = "", name = "", ownYear, ownTime] = named.exec(text) ?? [];
	const month = months.indexOf(name.toLowerCase()) + 1;
	return ownYear === undefined || month === 0 ? undefined : dayOf(ownYear, month, day, ownTime);
}

/**
 * What a date says about the order: "either" if both are possible. Dates with dots begin with the day wherever they
 * are in use. Undefined if it is not written in such an order.
 */
export function orderOf(given: string): DateOrder | "either" | undefined {
	const text = given.trim();
	const [, , sign] = numeric.exec(text) ?? [];
	const day = dayInOrder(text, "day first");
	if (sign === undefined) return day === undefined ? undefined : "day first";
	const month = dayInOrder(text, "month first");
	if (day === undefined) return month === undefined ? undefined : "month first";
	return sign === "." || month === undefined ? "day first" : day === month ? undefined : "either";
}
