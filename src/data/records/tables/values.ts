import { InputError } from "../../../base/errors.js";
import { daysFromText, daysFromTimestamp, expectedYears, isFarOff, oldestYears } from "../dates.js";
import { type Loaded, type TimeIs, timeUnits } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import { isMissing, missingWords } from "../words.js";
import { daysIn, isAge, isTimeUnit, plausibleDays, statedUnit } from "./column-names.js";

const wholeNumber = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$/;
const fraction = /^(DOUBLE|FLOAT|DECIMAL\(.*\))$/;
const dated = /^(DATE|TIMESTAMP.*)$/;
const text = /^(VARCHAR|UUID|ENUM\(.*\))$/;

export const isDated = ({ type }: Pick<Column, "type">) => dated.test(type);
export const isNumber = ({ type }: Column) => wholeNumber.test(type) || fraction.test(type);

function refuse(column: Column, expected: string): never {
	throw new InputError(
		`${column.file}: column ${column.name} is of type ${column.type.slice(0, 40)}; expected ${expected}`,
	);
}

const missingSql = missingWords.map(quoted).join(", ");

/** SQL condition: a text is a word for a missing value. */
export const isMissingSql = (expression: string): string =>
	`(strlen(${expression}) <= 4 AND ${expression} IN (${missingSql}))`;

/** SQL condition: a text is untrimmed, or is a word for a missing value. */
export const isUntidy = (expression: string): string =>
	`(${expression} LIKE ' %' OR ${expression} LIKE '% ' OR ${isMissingSql(expression)})`;

/** SQL for the text of a column, NULL if it is missing. */
export function textOf(column: Column, fractions: "whole" | "refused" = "refused"): string {
	const text = plainText(column, fractions);
	return column.type === "VARCHAR"
		? `CASE WHEN ${isMissingSql(text)} THEN NULL ELSE ${text} END`
		: text;
}

/** The same, but words for a missing value stay. */
export function plainText(column: Column, fractions: "whole" | "refused" = "refused"): string {
	const { sql, type } = column;
	if (wholeNumber.test(type)) return `CAST(${sql} AS VARCHAR)`;
	if (fraction.test(type)) {
		if (fractions === "refused")
			refuse(column, "text or whole numbers: 250.10 as a number is 250.1; write it as text");
		// A column of whole numbers is DOUBLE if some are missing.
		return `CASE WHEN ${sql} = trunc(${sql}) AND abs(${sql}) < 9e15 THEN CAST(CAST(${sql} AS BIGINT) AS VARCHAR) ELSE CAST(${sql} AS VARCHAR) END`;
	}
	if (!text.test(type)) refuse(column, "text or whole numbers");
	return type === "VARCHAR" ? `trim(${sql})` : `CAST(${sql} AS VARCHAR)`;
}

/** The unchanged text of a text column. */
export const untrimmed = (column: Column): string =>
	column.type === "VARCHAR" ? column.sql : plainText(column, "whole");

/** The original text of a value, for messages. */
export const rawText = ({ sql }: Column): string => `CAST(${sql} AS VARCHAR)`;

const sayUnit =
	"if they are ages or counted from an origin, pass `timeIs` age-days, age-years, days, hours or minutes; if they are dates say how they are written, as in `dateFormat` %Y%m%d";

/** SQL for days, NULL if there is no time or it cannot be read. */
export function daysOf(column: Column, unit: TimeIs, format?: string, orIso = false): string {
	const { sql, type } = column;
	if (unit !== "date") {
		if (dated.test(type)) refuse(column, `numbers, because the times are said to be ${unit}`);
		const number = isNumber(column) ? `CAST(${sql} AS DOUBLE)` : `try_cast(trim(${sql}) AS DOUBLE)`;
		const factor = daysIn[unit];
		return factor === 1 ? number : `(${number} * ${factor})`;
	}
	if (dated.test(type)) return daysFromTimestamp(sql);
	if (isNumber(column)) {
		if (!format || !wholeNumber.test(type)) refuse(column, `dates; ${sayUnit}`);
		return daysFromText(`CAST(${sql} AS VARCHAR)`, format);
	}
	if (type !== "VARCHAR") refuse(column, "dates");
	if (format && orIso) return `coalesce(${daysFromText(sql, format)}, ${daysFromText(sql)})`;
	return daysFromText(sql, format);
}

/** SQL condition: there is no time, or it is implausible. */
export const isBadTime = (days: string, unit: TimeIs): string =>
	`(${days} IS NULL OR ${unit === "date" ? isFarOff(days) : `NOT ${days} BETWEEN ${plausibleDays(unit).join(" AND ")}`})`;

/** SQL for days, and the column that is to be read as dates for it: without one, the days are computed by `slow`. */
export const quickDays = (
	table: Table,
	{ name, sql }: Column,
	unit: TimeIs,
	slow: string,
	format?: string,
) =>
	unit === "date" && !format && table.dated
		? { dates: name, time: `(${sql} - DATE '1970-01-01')::DOUBLE` }
		: { dates: undefined, time: slow };

/** Explains what is wrong with a time (in days, if it could be read) and what to do. */
export function badTime(
	value: string | null,
	days: number | null,
	column: Column,
	unit: TimeIs,
	format?: string,
): string {
	const got = value === null ? "" : value.trim();
	if (isMissing(got))
		return `${column.name} is empty; every record needs a time: fill it in or remove the row`;
	const shown = JSON.stringify(got.length > 40 ? `${got.slice(0, 40)}…` : got);
	if (unit !== "date" && days !== null && Number.isFinite(days))
		return `${column.name} is ${shown}; expected ${expectedTime(unit)}: correct it or remove the row`;
	if (unit !== "date") return `${column.name} is ${shown}; expected a finite number (${unit})`;
	if (days !== null && Number.isFinite(days))
		return `${column.name} is ${shown}; ${expectedYears}: correct it or remove the row`;
	if (format)
		return `${column.name} is ${shown}; expected a date written as ${format} (\`dateFormat\`)`;
	if (/^[+-]?\d*\.?\d+(e\d+)?$/i.test(got))
		return `${column.name} is ${shown}, a number; ${sayUnit}`;
	return `${column.name} is ${shown}; expected a date such as 2020-01-31, 2020-01-31 12:30:00 or 20200131, or say how dates are written, as in \`dateFormat\` %d/%m/%Y`;
}

function expectedTime(unit: Exclude<TimeIs, "date">): string {
	const mistaken = unit === "age-years" ? ", or pass `timeIs` age-days if it counts days" : "";
	if (isAge(unit)) return `an age from 0 to ${oldestYears} years (${unit})${mistaken}`;
	const [least, most] = plausibleDays(unit).map((days) => days / daysIn[unit]);
	return `a ${unit === "days" ? "day" : "number"} from ${least} to ${most} (${unit})`;
}

/** SQL that maps each text to its value and any other text to NULL, with a single lookup. */
export function chosen(
	expression: string,
	values: Iterable<readonly [text: string, value: string]>,
): string {
	const pairs = Array.from(values, ([key, value]) => `${quoted(key)}: ${quoted(value)}`);
	return `MAP {${pairs.join(", ")}}[${expression}]`;
}

/** The unit of the records that a source has loaded. */
export const recordUnit = ({ axis, times }: Pick<Loaded, "axis" | "times">): TimeIs =>
	times?.records ?? (axis === "dates" ? "date" : "days");

/** Rejects a unit that does not exist. */
export function checkUnit(option: string, unit: TimeIs | undefined): void {
	if (unit === undefined || isTimeUnit(unit)) return;
	throw new InputError(`\`${option}\` "${unit}"; expected one of ${timeUnits.join(", ")}`, {
		field: option,
		value: unit,
	});
}

/** The unit of times that are read beside the records: that of the records, unless an option names another. */
export interface UnitBeside {
	readonly unit: TimeIs;
	/** The option that names the unit; undefined where there is none. */
	readonly option?: string | undefined;
	/** Whether the option was given. */
	readonly isNamed: boolean;
	/** Why nobody knows the unit; undefined if it is known. */
	readonly unknown?: string | undefined;
}

export function unitBeside(
	records: TimeIs,
	option?: string | undefined,
	named?: TimeIs | undefined,
): UnitBeside {
	const unit = named ?? records;
	if (option !== undefined) checkUnit(option, named);
	if ((unit === "date") !== (records === "date") || (isAge(unit) && !isAge(records)))
		throw new InputError(
			`\`${option}\` is ${unit}, but the times of the records are ${records}: dates, ages and other numbers cannot be mixed; expected ${
				records === "date"
					? "date"
					: timeUnits.filter((one) => one !== "date" && (isAge(records) || !isAge(one))).join(", ")
			}`,
			{ field: option ?? "timeIs", value: unit },
		);
	return { unit, option, isNamed: named !== undefined };
}

/** SQL for the days of such times. A column whose name states another unit is refused. */
export function daysBeside(
	column: Column,
	{ unit, option, isNamed, unknown }: UnitBeside,
	format?: string,
): string {
	if (unknown !== undefined) throw new InputError(unknown, { field: option ?? "timeIs" });
	const stated = otherStatedUnit(column, unit);
	if (stated !== undefined && !(isNamed && isTimeUnit(stated))) {
		const remedy = option && isTimeUnit(stated) ? `name their unit with \`${option}\`, or ` : "";
		throw new InputError(
			`${sayStated(column, stated)}its times are read in ${unit}${isNamed ? "" : ", as those of the records"}; ${remedy}rename the column if they are ${unit}`,
			{ field: option ?? "timeIs", value: unit },
		);
	}
	return daysOf(column, unit, format, true);
}

/** Refuses a time column of records whose name states another unit than `timeIs` does. */
export function checkRecordUnit(column: Column, unit: TimeIs): void {
	const stated = otherStatedUnit(column, unit);
	if (stated === undefined) return;
	throw new InputError(
		`${sayStated(column, stated)}\`timeIs\` is ${unit}; ${isTimeUnit(stated) ? `pass \`timeIs\` ${stated}, or ` : ""}rename the column if its times are ${unit}`,
		{ field: "timeIs", value: unit },
	);
}

/** The unit that the name of a column of numbers states, if it is not the one in which they are read. */
function otherStatedUnit(column: Column, unit: TimeIs): keyof typeof daysIn | undefined {
	const stated = statedUnit(column.name);
	if (stated === undefined || unit === "date") return undefined;
	return daysIn[stated] !== daysIn[unit] || (isAge(stated) && !isAge(unit)) ? stated : undefined;
}

const sayStated = (column: Column, stated: keyof typeof daysIn): string =>
	`${column.file}: the name of column ${column.name} states ${stated}${isTimeUnit(stated) ? "" : ", a unit that is not supported: convert the times to days"}, but `;
