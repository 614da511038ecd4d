import { InputError } from "../../../base/errors.js";
import type { Loaded } from "../rows.js";
import { daysIn, isAge, isTimeUnit, statedUnit, type TimeIs, timeUnits } from "./column-names.js";
import type { Found } from "./columns.js";
import { daysOf } from "./values.js";

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
	column: Found,
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
export function checkRecordUnit(column: Found, unit: TimeIs): void {
	const stated = otherStatedUnit(column, unit);
	if (stated === undefined) return;
	throw new InputError(
		`${sayStated(column, stated)}\`timeIs\` is ${unit}; ${isTimeUnit(stated) ? `pass \`timeIs\` ${stated}, or ` : ""}rename the column if its times are ${unit}`,
		{ field: "timeIs", value: unit },
	);
}

/** The unit that the name of a column of numbers states, if it is not the one in which they are read. */
function otherStatedUnit(column: Found, unit: TimeIs): keyof typeof daysIn | undefined {
	const stated = statedUnit(column.name);
	if (stated === undefined || unit === "date") return undefined;
	return daysIn[stated] !== daysIn[unit] || (isAge(stated) && !isAge(unit)) ? stated : undefined;
}

const sayStated = (column: Found, stated: keyof typeof daysIn): string =>
	`${column.table.file}: the name of column ${column.name} states ${stated}${isTimeUnit(stated) ? "" : ", a unit that is not supported: convert the times to days"}, but `;
