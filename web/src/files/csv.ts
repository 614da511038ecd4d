import { InputError } from "../../../src/base/errors.js";
import { knownPeople } from "../../../src/cohort/reading/people.js";
import { counted } from "../../../src/figures/numbers.js";
import { dayOfText } from "../../../src/records/dates.js";
import { firstRow, quoteFaults, rowsOf } from "../../../src/records/delimited-rows.js";
import { isMissing } from "../../../src/records/missing-values.js";
import type { PersonRow, Sex } from "../../../src/records/rows.js";
import { sexOf } from "../../../src/records/sexes.js";
import { knownSystems, systemNamed } from "../../../src/records/systems.js";
import {
	daysIn,
	isAge,
	plausibleDays,
	type TimeIs,
} from "../../../src/records/tables/column-names.js";
import { expectedYears, oldestYears } from "../../../src/records/years.js";
import { type Columns, columnsOf, expectedColumns } from "./csv-columns.js";
import type { FileContent, FileRecord } from "./records.js";

type Person = Omit<PersonRow, "split">;

/** The maximum distance of a day from 0, as in requests to the HTTP API: about 2,700 years. */
const mostDays = 1e6;

const shown = (text: string) => JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

/** The text of a field; undefined if there is no such column or the value is missing. */
const fieldIn = (fields: readonly string[], column: number): string | undefined => {
	const text = fields[column];
	return text === undefined || isMissing(text) ? undefined : text;
};

/** The days of a time, on the axis of its column. */
function dayOf(text: string, unit: TimeIs, what: string): number {
	const refuse = (expected: string): never => {
		throw new InputError(`${what} is ${shown(text)}; expected ${expected}`);
	};
	if (unit === "date")
		return (
			dayOfText(text) ??
			refuse(
				`a date such as 2020-01-31 or 2020-01-31T12:30:00Z, ${expectedYears}; for ages name the column age_days or age_years`,
			)
		);
	const day = Number(text) * daysIn[unit];
	if (!Number.isFinite(Number(text))) refuse("a number of days or years");
	const [least, most] = plausibleDays(unit);
	const isInBounds = day >= Math.max(least, -mostDays) && day <= Math.min(most, mostDays);
	const expected = isAge(unit)
		? `an age from 0 to ${oldestYears} years`
		: `at most ${mostDays.toLocaleString("en-US")} days either way`;
	return isInBounds ? day : refuse(`${expected}: see whether it counts seconds, or is a date`);
}

function sexIn(text: string | undefined, where: string): Sex | null {
	const sex = sexOf(text);
	if (sex !== undefined) return sex;
	throw new InputError(
		`${where}: the sex is ${shown(text ?? "")}; expected female, male, F, M or nothing where it is not known`,
	);
}

function systemOf(text: string | undefined, { systemOfAll }: Columns, where: string) {
	if (text === undefined) return systemOfAll;
	const system = systemNamed(text);
	if (system !== undefined) return system;
	throw new InputError(
		`${where}: the system is ${shown(text)}, which is not known; known are ${knownSystems.join(", ")}`,
	);
}

function personOf(
	fields: readonly string[],
	patient: string,
	columns: Columns,
	place: string,
): Person {
	const { unit } = columns;
	const day = (column: number, what: string) => {
		const text = fieldIn(fields, column);
		return text === undefined ? null : dayOf(text, unit, `${place}: the ${what}`);
	};
	const isAge = unit === "age-days" || unit === "age-years";
	return {
		patient,
		place,
		// If times are ages, everybody is born at 0.
		birth: isAge ? 0 : day(columns.birth, "birth"),
		death: day(columns.death, "death"),
		sex: sexIn(fieldIn(fields, columns.sex), place),
	};
}

/** Reads records from a table, one per row, by the rules of `trajgpt prepare`. */
export function readCsv(text: string): FileContent {
	let header: readonly string[] | undefined;
	let columns: Columns | undefined;
	const records: FileRecord[] = [];
	const people: Person[] = [];
	const said = new Map<string, Person>();
	let [rows, empty] = [0, 0];
	const delimiter = firstRow(text, { quotes: true })?.delimiter ?? ",";
	for (const { line, texts, fault } of rowsOf(text, { delimiter, quotes: true })) {
		if (fault && fault !== "line end") throw new InputError(`line ${line}: ${quoteFaults[fault]}`);
		const fields = texts.map((field) => field.trim());
		if (!header || !columns) {
			header = fields;
			columns = columnsOf(fields);
			continue;
		}
		rows++;
		const where = `line ${line}`;
		if (Math.max(columns.patient, columns.time, columns.code) >= fields.length)
			throw new InputError(
				`${where} has ${fields.length} fields; expected ${header.length}, as the first line has`,
			);
		const code = fieldIn(fields, columns.code);
		if (code === undefined) {
			empty++;
			continue;
		}
		const patient = fieldIn(fields, columns.patient);
		if (patient === undefined)
			throw new InputError(`${where} has no patient; fill it in or remove the row`);
		const time = fieldIn(fields, columns.time);
		if (time === undefined)
			throw new InputError(
				`${where}: the time is empty; every record needs a time: fill it in or remove the row`,
			);
		const day = dayOf(time, columns.unit, `${where}: the time`);
		const system = systemOf(fieldIn(fields, columns.system), columns, where);
		const number = Number(fieldIn(fields, columns.value) ?? Number.NaN);
		const value = Number.isFinite(number) ? number : null;
		const measured = { value, unit: fieldIn(fields, columns.valueUnit) ?? null };
		records.push({ patient, day, code, system, ...(value !== null && measured) });
		const person = personOf(fields, patient, columns, where);
		const before = said.get(patient);
		if (
			before?.birth === person.birth &&
			before.sex === person.sex &&
			before.death === person.death
		)
			continue;
		said.set(patient, person);
		people.push(person);
	}
	if (!header || !columns) throw new InputError(`the file is empty; ${expectedColumns}`);
	if (rows === 0)
		throw new InputError("the file has a line of names and no record; expected one row a record");
	if (records.length === 0)
		throw new InputError(`no row has a code: the column ${header[columns.code]} is empty`);
	const { unit } = columns;
	return {
		format: "CSV",
		axis: unit === "date" ? "dates" : "days",
		records,
		known: knownPeople(people),
		notes: [
			...(empty > 0 ? [`${counted(empty, "row has", "rows have")} no code: left out`] : []),
			...(columns.birth >= 0 && (unit === "age-days" || unit === "age-years")
				? [`${header[columns.birth]} was not read, for the times are ages: birth is at 0`]
				: []),
		],
	};
}
