import { thousands } from "../../../src/base/thousands.js";
import type { DateOrder } from "../../../src/data/records/date-order.js";
import { isMissing } from "../../../src/data/records/missing-values.js";
import type { PersonRow, Sex } from "../../../src/data/records/rows.js";
import { sexOf } from "../../../src/data/records/sexes.js";
import {
	eitherIcd,
	icdByForm,
	knownSystems,
	systemNamed,
} from "../../../src/data/records/systems.js";
import { daysIn, isAge, plausibleDays } from "../../../src/data/records/tables/column-names.js";
import { firstYear, lastYear, oldestYears } from "../../../src/data/records/years.js";
import { BadField } from "./bad-rows.js";
import type { Columns } from "./csv-columns.js";
import { dayOfDate } from "./date-reading.js";
import type { FileRecord } from "./records.js";

export type Person = Omit<PersonRow, "split">;

/** The maximum distance of a day from 0, as in requests to the HTTP API: about 2,700 years. */
const mostDays = 1e6;

export const shown = (text: string) =>
	JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

/** The text of a field; undefined if there is no such column or the value is missing. */
export const fieldIn = (fields: readonly string[], column: number): string | undefined => {
	const text = fields[column];
	return text === undefined || isMissing(text) ? undefined : text;
};

const dateExamples: Readonly<Record<DateOrder | "ISO", string>> = {
	ISO: "2020-01-31, 31.01.2020 or 2020-01-31T12:30:00Z",
	"day first": "31/01/2020 (the day first, as in the other rows) or 2020-01-31",
	"month first": "01/31/2020 (the month first, as in the other rows) or 2020-01-31",
};

/** Reads the rows of one table. */
export function rowReader(header: readonly string[], columns: Columns, order: DateOrder | null) {
	const { unit, codes } = columns;
	const last = Math.max(columns.patient, columns.time, ...codes.map(({ at }) => at));
	const nameOf = (column: number) => header[column] as string;

	/** The days of a time, on the axis of its column. */
	function dayIn(text: string, column: number): number {
		const refuse = (expected: string): never => {
			throw new BadField(nameOf(column), shown(text), expected);
		};
		if (unit === "date")
			return (
				dayOfDate(text, order) ??
				refuse(
					`a date such as ${dateExamples[order ?? "ISO"]}, from ${firstYear} to ${lastYear}; for ages name the column age_days or age_years`,
				)
			);
		const day = Number(text) * daysIn[unit];
		if (!Number.isFinite(Number(text))) refuse("a number of days or years");
		const [least, most] = plausibleDays(unit);
		const isInBounds = day >= Math.max(least, -mostDays) && day <= Math.min(most, mostDays);
		const expected = isAge(unit)
			? `an age from 0 to ${oldestYears} years`
			: `at most ${thousands(mostDays)} days either way`;
		return isInBounds ? day : refuse(`${expected}: see whether it counts seconds, or is a date`);
	}

	/** Values that stand for no sex that the model knows. */
	const otherSexes = new Set<string>();
	function sexIn(text: string | undefined): Sex | null {
		const sex = sexOf(text);
		if (sex === undefined && text !== undefined) otherSexes.add(text);
		return sex ?? null;
	}

	function systemIn(text: string | undefined, implied: string | null, code: string): string | null {
		if (text === undefined) return implied;
		if (text.trim().toLowerCase() === eitherIcd) return icdByForm(code);
		const system = systemNamed(text);
		if (system !== undefined) return system;
		throw new BadField(
			nameOf(columns.system),
			shown(text),
			`one of the known systems: ${knownSystems.join(", ")}, and ${eitherIcd}`,
		);
	}

	/** A birth of which only the year is known: on 1 July, as on the command line. */
	function yearIn(fields: readonly string[]): number | null {
		const text = fieldIn(fields, columns.birthYear);
		if (text === undefined || unit !== "date") return null;
		const year = Number(text);
		if (Number.isInteger(year) && year >= firstYear && year <= lastYear)
			return dayOfDate(`${year}-07-01`, null) ?? null;
		throw new BadField(
			nameOf(columns.birthYear),
			shown(text),
			`a year from ${firstYear} to ${lastYear}`,
		);
	}

	const needed = (fields: readonly string[], column: number, what: string): string => {
		const text = fieldIn(fields, column);
		if (text !== undefined) return text;
		throw new BadField(nameOf(column), "empty", what);
	};

	return {
		otherSexes: otherSexes as ReadonlySet<string>,
		/** The records of a row: one per code. */
		records(fields: readonly string[]): readonly FileRecord[] {
			if (last >= fields.length)
				throw new BadField(
					"the row",
					`${fields.length} ${fields.length === 1 ? "field" : "fields"} long`,
					`${header.length} fields, as in the first line`,
				);
			const given = codes.flatMap(({ at, system }) => {
				const code = fieldIn(fields, at);
				return code === undefined ? [] : [{ code, system }];
			});
			if (given.length === 0) return [];
			const patient = needed(fields, columns.patient, "the id of a patient");
			const time = needed(fields, columns.time, "a time for every record");
			const day = dayIn(time, columns.time);
			const written = fieldIn(fields, columns.system);
			const number = Number(fieldIn(fields, columns.value) ?? Number.NaN);
			const value = Number.isFinite(number) ? number : null;
			const measured = { value, unit: fieldIn(fields, columns.valueUnit) ?? null };
			return given.map(({ code, system }) => ({
				patient,
				day,
				code,
				system: systemIn(written, system, code),
				...(value !== null && measured),
			}));
		},
		/** What the row says of the person. */
		person(fields: readonly string[], patient: string, place: string): Person {
			const day = (column: number) => {
				const text = fieldIn(fields, column);
				return text === undefined ? null : dayIn(text, column);
			};
			return {
				patient,
				place,
				// If times are ages, everybody is born at 0.
				birth: isAge(unit) ? 0 : columns.birth >= 0 ? day(columns.birth) : yearIn(fields),
				death: day(columns.death),
				sex: sexIn(fieldIn(fields, columns.sex)),
			};
		},
	};
}
