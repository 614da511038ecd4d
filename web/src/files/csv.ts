import { InputError } from "../../../src/base/errors.js";
import { knownPeople } from "../../../src/data/cohort/reading/people.js";
import type { DateOrder } from "../../../src/data/records/date-order.js";
import { firstRow, quoteFaults, rowsOf } from "../../../src/data/records/delimited-rows.js";
import { isAge } from "../../../src/data/records/tables/column-names.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { BadField, badRows } from "./bad-rows.js";
import {
	type ColumnChoice,
	type Columns,
	columnNames,
	expectedColumns,
	placesOf,
	usualColumns,
} from "./csv-columns.js";
import { fieldIn, type Person, rowReader, shown } from "./csv-row.js";
import { type DateReading, detectedOrder } from "./date-reading.js";
import type { FileContent, FileRecord, WrittenRecord } from "./records.js";

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
			const own = [columns.time, columns.birth, columns.death];
			yield own.flatMap((column) => fieldIn(fields, column) ?? []);
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
			const own = reader.records(fields);
			const [one] = own;
			if (!one) {
				empty++;
				continue;
			}
			persons.add(reader.person(fields, one.patient, where), fieldIn(fields, birth));
			records.push(...own);
			const time = fields[columns.time] as string;
			for (const record of own)
				if (first.length < previewRows) first.push({ ...record, line, time });
		} catch (error) {
			if (!(error instanceof BadField)) throw error;
			const { column, got, expected } = error;
			bad.add({ where, column, got, expected });
		}
	}
	if (rows === 0)
		throw new InputError("the file has a line of names and no record; expected one row per record");
	const found = bad.end(rows, "row");
	if (records.length === 0)
		throw new InputError(`no row has a code: the column ${header[columns.code]} is empty`);
	return {
		format: "CSV",
		axis: columns.unit === "date" ? "dates" : "days",
		...{ records, dates, first, bad: found },
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
