import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";
import { knownPeople } from "../../../src/data/cohort/reading/people.js";
import {
	type DateOrder,
	dayInOrder,
	dayOfText,
	firstYear,
	lastYear,
	oldestYears,
	orderOf,
} from "../../../src/data/records/dates.js";
import { firstRow, quoteFaults, rowsOf } from "../../../src/data/records/delimited-rows.js";
import type { PersonRow, Sex } from "../../../src/data/records/rows.js";
import {
	eitherIcd,
	icdByForm,
	impliedSystem,
	knownSystems,
	systemNamed,
} from "../../../src/data/records/systems.js";
import { daysIn, isAge, plausibleDays } from "../../../src/data/records/tables/column-names.js";
import { isMissing, sexOf } from "../../../src/data/records/words.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { type ColumnChoice, columnNames, expectedColumns, usualColumns } from "./columns.js";
import {
	BadField,
	badRows,
	type FileContent,
	type FileRecord,
	type WrittenRecord,
} from "./records.js";

/** A date that can be read in two ways; in days. */
export interface AmbiguousDate {
	readonly text: string;
	readonly dayFirst: number;
	readonly monthFirst: number;
}

/** All dates of the file can be read in two ways, so the user must say which is right. */
export class AmbiguousDates extends Error {
	override readonly name = "AmbiguousDates";

	constructor(readonly examples: readonly AmbiguousDate[]) {
		super("the dates can be read in two ways");
	}
}

/** If this many rows have only ISO dates, all are taken to. */
const enoughRows = 200;
const mostExamples = 3;

/** The order of the dates in some rows; null if they are ISO dates. Reads on until a date decides. */
function detectedOrder(rows: Iterable<readonly string[]>): DateOrder | null {
	const examples = new Map<string, AmbiguousDate>();
	let [isOrdered, count] = [false, 0];
	for (const dates of rows) {
		if (++count > enoughRows && !isOrdered) break;
		for (const text of dates) {
			if (dayOfText(text) !== undefined) continue;
			const dayFirst = dayInOrder(text, "day first");
			const order = orderOf(text);
			if (order !== undefined && order !== "either") return order;
			isOrdered ||= dayFirst !== undefined;
			const monthFirst = dayInOrder(text, "month first");
			if (order && dayFirst !== undefined && monthFirst !== undefined)
				if (examples.size < mostExamples) examples.set(text, { text, dayFirst, monthFirst });
		}
	}
	if (examples.size > 0) throw new AmbiguousDates([...examples.values()]);
	return isOrdered ? "day first" : null;
}

const dateExamples: Readonly<Record<DateOrder | "ISO", string>> = {
	ISO: "2020-01-31, 31.01.2020 or 2020-01-31T12:30:00Z",
	"day first": "31/01/2020 (the day first, as in the other rows) or 2020-01-31",
	"month first": "01/31/2020 (the month first, as in the other rows) or 2020-01-31",
};

/** The maximum distance of a day from 0, as in requests to the HTTP API: about 2,700 years. */
const mostDays = 1e6;

const shown = (text: string) => JSON.stringify(text.length > 24 ? `${text.slice(0, 24)}…` : text);

/** The text of a field; undefined if there is no such column or the value is missing. */
function fieldIn(fields: readonly string[], column: number | undefined): string | undefined {
	const text = column === undefined ? undefined : fields[column];
	return text === undefined || isMissing(text) ? undefined : text;
}

/** Reads the rows of one table. */
function rowReader(header: readonly string[], choice: ColumnChoice, order: DateOrder | null) {
	const { columns, timeIs, moreCodes, systemOfAll } = choice;
	const unit = timeIs ?? "date";
	const nameOf = (column: number | undefined) => header[column ?? -1] ?? "";
	const codes = [columns.code ?? -1, ...moreCodes].map((column) => ({
		column,
		system: systemOfAll ?? impliedSystem(nameOf(column)) ?? null,
	}));
	const last = Math.max(
		columns.patient ?? -1,
		columns.time ?? -1,
		...codes.map(({ column }) => column),
	);

	/** The days of a time, on the axis of its column. */
	function dayIn(text: string, column: number | undefined): number {
		const refuse = (expected: string): never => {
			throw new BadField(nameOf(column), shown(text), expected);
		};
		if (unit === "date")
			return (
				dayOfText(text) ??
				(order === null ? undefined : dayInOrder(text, order)) ??
				refuse(
					`a date such as ${dateExamples[order ?? "ISO"]}, from ${firstYear} to ${lastYear}; for ages name the column age_days or age_years`,
				)
			);
		const day = Number(text) * daysIn[unit];
		if (!Number.isFinite(Number(text))) refuse("a number of days or years");
		const [least, most] = plausibleDays(unit);
		if (day >= Math.max(least, -mostDays) && day <= Math.min(most, mostDays)) return day;
		const expected = isAge(unit)
			? `an age from 0 to ${oldestYears} years`
			: `at most ${thousands(mostDays)} days either way`;
		return refuse(`${expected}: see whether it counts seconds, or is a date`);
	}

	/** The days of a birth or a death; null if there is none. */
	const dateIn = (fields: readonly string[], column: number | undefined): number | null => {
		const text = fieldIn(fields, column);
		return text === undefined ? null : dayIn(text, column);
	};

	/** A birth of which only the year is known: on 1 July, as on the command line. */
	function yearIn(fields: readonly string[]): number | null {
		const text = fieldIn(fields, columns.birthYear);
		if (text === undefined || unit !== "date") return null;
		const year = Number(text);
		if (Number.isInteger(year) && year >= firstYear && year <= lastYear)
			return dayOfText(`${year}-07-01`) ?? null;
		throw new BadField(
			nameOf(columns.birthYear),
			shown(text),
			`a year from ${firstYear} to ${lastYear}`,
		);
	}

	/** Values that stand for no sex that the model knows. */
	const otherSexes = new Set<string>();
	function sexIn(fields: readonly string[]): Sex | null {
		const text = fieldIn(fields, columns.sex);
		const sex = sexOf(text);
		if (sex === undefined && text !== undefined) otherSexes.add(text);
		return sex ?? null;
	}

	function systemIn(text: string, code: string): string | null {
		if (text.trim().toLowerCase() === eitherIcd) return icdByForm(code);
		const system = systemNamed(text);
		if (system !== undefined) return system;
		throw new BadField(
			nameOf(columns.system),
			shown(text),
			`one of the known systems: ${knownSystems.join(", ")}, and ${eitherIcd}`,
		);
	}

	const needed = (fields: readonly string[], column: number | undefined, what: string): string => {
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
			const rowCodes = codes.flatMap(({ column, system }) => {
				const code = fieldIn(fields, column);
				return code === undefined ? [] : [{ code, system }];
			});
			if (rowCodes.length === 0) return [];
			const patient = needed(fields, columns.patient, "the id of a patient");
			const day = dayIn(needed(fields, columns.time, "a time for every record"), columns.time);
			const written = fieldIn(fields, columns.system);
			const value = Number(fieldIn(fields, columns.value) ?? Number.NaN);
			const measured = { value, unit: fieldIn(fields, columns.unit) ?? null };
			return rowCodes.map(({ code, system }) => ({
				patient,
				day,
				code,
				system: written === undefined ? system : systemIn(written, code),
				...(Number.isFinite(value) && measured),
			}));
		},
		/** What the row says of the person. If times are ages, everybody is born at 0. */
		person: (fields: readonly string[], patient: string, place: string) => ({
			patient,
			place,
			birth: isAge(unit)
				? 0
				: columns.birth === undefined
					? yearIn(fields)
					: dateIn(fields, columns.birth),
			death: dateIn(fields, columns.death),
			sex: sexIn(fields),
		}),
	};
}

type Person = Omit<PersonRow, "split">;

/** Merges what rows say of people. A second birth date makes its row bad. */
function peopleReader(birthName: string) {
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
					birthName,
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

function knownColumns(first: readonly string[]): ColumnChoice {
	const { choice, unknown } = usualColumns(first);
	if (unknown) throw unknown;
	return choice;
}

/** Reads records from a table, one per row, by the rules of `trajgpt prepare --skip-bad`. */
export function readCsv(
	text: string,
	{ order: chosenOrder, columns: chosen, onProgress }: TableOptions = {},
): FileContent {
	const begin = firstRow(text, { quotes: true });
	if (!begin) throw new InputError(`the file is empty; ${expectedColumns}`);
	const first = trimmed(begin.row.texts);
	const choice = chosen?.(first) ?? knownColumns(first);
	const { columns, firstIsRecord, timeIs } = choice;
	const header = columnNames(first, firstIsRecord);
	function* rows() {
		let isHeader = !firstIsRecord;
		for (const row of rowsOf(text, { delimiter: begin?.delimiter ?? ",", quotes: true })) {
			if (!isHeader) yield { ...row, fields: trimmed(row.texts) };
			isHeader = false;
		}
	}
	function* dates() {
		for (const { fields } of rows())
			yield [columns.time, columns.birth, columns.death].flatMap(
				(column) => fieldIn(fields, column) ?? [],
			);
	}
	const isDated = timeIs === null || timeIs === "date";
	const order = isDated ? (chosenOrder ?? detectedOrder(dates())) : null;
	const reader = rowReader(header, choice, order);
	const birth = columns.birth ?? columns.birthYear;
	const birthName = birth === undefined ? "birth" : (header[birth] as string);
	const persons = peopleReader(birthName);
	const records: FileRecord[] = [];
	const preview: WrittenRecord[] = [];
	const bad = badRows();
	let [count, empty, characters] = [0, 0, 0];
	for (const { line, fields, fault, length } of rows()) {
		characters += length + 1;
		if (++count % progressRows === 0) onProgress?.(characters / text.length);
		const where = `line ${line}`;
		// All that follows is inside of the quote.
		if (fault === "open quote") throw new InputError(`${where}: ${quoteFaults[fault]}`);
		try {
			if (fault === "text after quote")
				throw new BadField("the row", "not well quoted", "a delimiter after a closing quote");
			const rowRecords = reader.records(fields);
			const [one] = rowRecords;
			if (!one) {
				empty++;
				continue;
			}
			persons.add(reader.person(fields, one.patient, where), fieldIn(fields, birth));
			records.push(...rowRecords);
			const time = fieldIn(fields, columns.time) ?? "";
			for (const record of rowRecords)
				if (preview.length < previewRows) preview.push({ ...record, line, time });
		} catch (error) {
			if (!(error instanceof BadField)) throw error;
			const { column, got, expected } = error;
			bad.add({ where, column, got, expected });
		}
	}
	if (count === 0)
		throw new InputError("the file has a line of names and no record; expected one row per record");
	const badContent = bad.end(count, "row");
	if (records.length === 0)
		throw new InputError(`no row has a code: the column ${header[columns.code ?? -1]} is empty`);
	const sexes = [...reader.otherSexes].slice(0, 5).map(shown).join(", ");
	return {
		format: "CSV",
		axis: isDated ? "dates" : "days",
		records,
		dates: order && { order, isChosen: chosenOrder !== undefined },
		first: preview,
		bad: badContent,
		known: knownPeople(persons.people),
		notes: [
			...(empty > 0 ? [`${counted(empty, "row has", "rows have")} no code: left out`] : []),
			...(sexes
				? [`${sexes} in the column ${header[columns.sex ?? -1]}: sex taken as unknown`]
				: []),
			...(birth !== undefined && timeIs !== null && timeIs !== "date" && isAge(timeIs)
				? [`${birthName} was not read, because the times are ages: birth is at 0`]
				: []),
		],
	};
}
