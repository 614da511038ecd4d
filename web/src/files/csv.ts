import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";
import { knownPeople } from "../../../src/data/cohort/reading/people.js";
import {
	type DateOrder,
	firstYear,
	lastYear,
	oldestYears,
} from "../../../src/data/records/dates.js";
import { firstRow, quoteFaults, rowsOf } from "../../../src/data/records/delimited-rows.js";
import type { PersonRow, Sex } from "../../../src/data/records/rows.js";
import {
	eitherIcd,
	icdByForm,
	knownSystems,
	systemNamed,
} from "../../../src/data/records/systems.js";
import { daysIn, isAge, plausibleDays } from "../../../src/data/records/tables/column-names.js";
import { isMissing, sexOf } from "../../../src/data/records/words.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import {
	type ColumnChoice,
	type Columns,
	columnNames,
	expectedColumns,
	placesOf,
	usualColumns,
} from "./csv-columns.js";
import { type DateReading, dayOfDate, detectedOrder } from "./date-reading.js";
import {
	BadField,
	badRows,
	type FileContent,
	type FileRecord,
	type WrittenRecord,
} from "./records.js";

type Person = Omit<PersonRow, "split">;

/** The maximum distance of a day from 0, as in requests to the HTTP API: about 2,700 years. */
const mostDays = 1e6;

const shown = (text: string) => JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

/** The text of a field; undefined if there is no such column or the value is missing. */
const fieldIn = (fields: readonly string[], column: number): string | undefined => {
	const text = fields[column];
	return text === undefined || isMissing(text) ? undefined : text;
};

const dateExamples: Readonly<Record<DateOrder | "ISO", string>> = {
	ISO: "2020-01-31, 31.01.2020 or 2020-01-31T12:30:00Z",
	"day first": "31/01/2020 (the day first, as in the other rows) or 2020-01-31",
	"month first": "01/31/2020 (the month first, as in the other rows) or 2020-01-31",
};

/** Reads the rows of one table. */
function rowReader(header: readonly string[], columns: Columns, order: DateOrder | null) {
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
			const rowCodes = codes.flatMap(({ at, system }) => {
				const code = fieldIn(fields, at);
				return code === undefined ? [] : [{ code, system }];
			});
			if (rowCodes.length === 0) return [];
			const patient = needed(fields, columns.patient, "the id of a patient");
			const time = needed(fields, columns.time, "a time for every record");
			const day = dayIn(time, columns.time);
			const written = fieldIn(fields, columns.system);
			const number = Number(fieldIn(fields, columns.value) ?? Number.NaN);
			const value = Number.isFinite(number) ? number : null;
			const measured = { value, unit: fieldIn(fields, columns.valueUnit) ?? null };
			return rowCodes.map(({ code, system }) => ({
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

export interface TableOptions {
	/** How dates such as 03/04/2020 are to be read; detected if left out. */
	readonly order?: DateOrder | undefined;
	/** Which column is which, given the fields of the first line; found by name if it gives nothing. */
	readonly columns?: ((first: readonly string[]) => ColumnChoice | undefined) | undefined;
	/** Told the share of the file that is read, every now and then. */
	readonly onProgress?: ((share: number) => void) | undefined;
}

const progressRows = 20_000;
const previewRows = 5;

const trimmed = (texts: readonly string[]) => texts.map((text) => text.trim());

/** The dates of each row. */
function* datesOf(
	text: string,
	delimiter: string,
	columns: Columns,
	hasNames: boolean,
): Generator<string[]> {
	let isHeader = hasNames;
	for (const { texts } of rowsOf(text, { delimiter, quotes: true })) {
		if (!isHeader) {
			const fields = trimmed(texts);
			const dateColumns = [columns.time, columns.birth, columns.death];
			yield dateColumns.flatMap((column) => fieldIn(fields, column) ?? []);
		}
		isHeader = false;
	}
}

function dateReading(
	text: string,
	delimiter: string,
	columns: Columns,
	hasNames: boolean,
	chosen: DateOrder | undefined,
): DateReading | null {
	if (columns.unit !== "date") return null;
	if (chosen) return { order: chosen, isChosen: true };
	const order = detectedOrder(datesOf(text, delimiter, columns, hasNames));
	return order && { order, isChosen: false };
}

/** Merges what rows say of people. A second birth date makes its row bad. */
function peopleReader(birthName: string | undefined) {
	const people: Person[] = [];
	const latest = new Map<string, Person>();
	const births = new Map<string, Person>();
	return {
		people,
		add(person: Person, birthText: string | undefined): void {
			const { patient, birth, sex, death } = person;
			const born = births.get(patient);
			if (birth !== null && born && born.birth !== birth)
				throw new BadField(
					birthName ?? "birth",
					JSON.stringify(birthText),
					`the birth date of ${born.place}: a patient has one`,
				);
			if (birth !== null && !born) births.set(patient, person);
			const before = latest.get(patient);
			if (before?.birth === birth && before.sex === sex && before.death === death) return;
			latest.set(patient, person);
			people.push(person);
		},
	};
}

function knownColumns(first: readonly string[]): ColumnChoice {
	const { choice, unknown } = usualColumns(first);
	if (unknown) throw unknown;
	return choice;
}

/** Reads records from a table, one per row, by the rules of `trajgpt prepare --skip-bad`. */
export function readCsv(
	text: string,
	{ order, columns: chosen, onProgress }: TableOptions = {},
): FileContent {
	const begin = firstRow(text, { quotes: true });
	if (!begin) throw new InputError(`the file is empty; ${expectedColumns}`);
	const { delimiter } = begin;
	const texts = trimmed(begin.row.texts);
	const choice = chosen?.(texts) ?? knownColumns(texts);
	const hasNames = !choice.firstIsRecord;
	const header = columnNames(texts, choice.firstIsRecord);
	const columns = placesOf(header, choice);
	const dates = dateReading(text, delimiter, columns, hasNames, order);
	const reader = rowReader(header, columns, dates?.order ?? null);
	const birth = columns.birth >= 0 ? columns.birth : columns.birthYear;
	const persons = peopleReader(header[birth]);
	const records: FileRecord[] = [];
	const first: WrittenRecord[] = [];
	const bad = badRows();
	let [rows, empty, characters] = [hasNames ? -1 : 0, 0, 0];
	for (const { line, texts, fault, length } of rowsOf(text, { delimiter, quotes: true })) {
		characters += length + 1;
		if (++rows === 0) continue;
		if (rows % progressRows === 0) onProgress?.(characters / text.length);
		const where = `line ${line}`;
		// All that follows is inside of the quote.
		if (fault === "open quote") throw new InputError(`${where}: ${quoteFaults[fault]}`);
		try {
			if (fault === "text after quote")
				throw new BadField("the row", "not well quoted", "a delimiter after a closing quote");
			const fields = trimmed(texts);
			const rowRecords = reader.records(fields);
			const [one] = rowRecords;
			if (!one) {
				empty++;
				continue;
			}
			persons.add(reader.person(fields, one.patient, where), fieldIn(fields, birth));
			records.push(...rowRecords);
			const time = fields[columns.time] as string;
			for (const record of rowRecords)
				if (first.length < previewRows) first.push({ ...record, line, time });
		} catch (error) {
			if (!(error instanceof BadField)) throw error;
			const { column, got, expected } = error;
			bad.add({ where, column, got, expected });
		}
	}
	if (rows === 0)
		throw new InputError("the file has a line of names and no record; expected one row per record");
	const badRowsFound = bad.end(rows, "row");
	if (records.length === 0)
		throw new InputError(`no row has a code: the column ${header[columns.code]} is empty`);
	return {
		format: "CSV",
		axis: columns.unit === "date" ? "dates" : "days",
		records,
		dates,
		first,
		bad: badRowsFound,
		known: knownPeople(persons.people),
		notes: [
			...(empty > 0 ? [`${counted(empty, "row has", "rows have")} no code: left out`] : []),
			...(reader.otherSexes.size > 0
				? [
						`${[...reader.otherSexes].slice(0, 5).map(shown).join(", ")} in the column ${header[columns.sex]}: sex taken as unknown`,
					]
				: []),
			...(birth >= 0 && isAge(columns.unit)
				? [`${header[birth]} was not read, because the times are ages: birth is at 0`]
				: []),
		],
	};
}
