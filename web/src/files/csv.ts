import { InputError } from "../../../src/base/errors.js";
import { knownPeople } from "../../../src/cohort/reading/people.js";
import { nothing } from "../../../src/records/nothing.js";
import type { PersonRow, Sex } from "../../../src/records/rows.js";
import { sexes } from "../../../src/records/sexes.js";
import { knownSystems, systemNamed } from "../../../src/records/systems.js";
import { type Columns, columnsOf, expectedColumns } from "./csv-columns.js";
import { dayOf, shown } from "./csv-times.js";
import { rowsOf } from "./delimited.js";
import { counted, type FileContent, type FileRecord } from "./records.js";

type Person = Omit<PersonRow, "split">;

const fieldIn = (fields: readonly string[], column: number) =>
	column < 0 ? undefined : fields[column];

const isNothing = (text: string | undefined) => text === undefined || nothing.includes(text);

function sexOf(text: string | undefined, where: string): Sex | null {
	if (text === undefined || isNothing(text)) return null;
	const sex = sexes.get(text.toLowerCase());
	if (sex !== undefined) return sex;
	throw new InputError(
		`${where}: the sex is ${shown(text)}; expected female, male, F, M or nothing where it is not known`,
	);
}

function systemOf(text: string | undefined, { systemOfAll }: Columns, where: string) {
	if (text === undefined || isNothing(text)) return systemOfAll;
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
		return text === undefined || isNothing(text)
			? null
			: dayOf(text, unit, `${place}: the ${what}`);
	};
	const isAge = unit === "age-days" || unit === "age-years";
	return {
		patient,
		place,
		// Where times are ages everybody is born at 0.
		birth: isAge ? 0 : day(columns.birth, "birth"),
		death: day(columns.death, "death"),
		sex: sexOf(fieldIn(fields, columns.sex), place),
	};
}

/** Records from a table: one row each, read as `trajgpt prepare` reads it. */
export function readCsv(text: string): FileContent {
	let header: readonly string[] | undefined;
	let columns: Columns | undefined;
	const records: FileRecord[] = [];
	const people: Person[] = [];
	const said = new Map<string, Person>();
	let [rows, empty] = [0, 0];
	for (const { line, fields } of rowsOf(text)) {
		if (!header || !columns) {
			header = fields;
			columns = columnsOf(fields);
			continue;
		}
		rows++;
		const where = `line ${line}`;
		const [patient, time, code] = [columns.patient, columns.time, columns.code].map(
			(column) => fields[column],
		);
		if (patient === undefined || time === undefined || code === undefined)
			throw new InputError(
				`${where} has ${fields.length} fields; expected ${header.length}, as the first line has`,
			);
		if (isNothing(code)) {
			empty++;
			continue;
		}
		if (isNothing(patient))
			throw new InputError(`${where} has no patient; fill it in or remove the row`);
		const day = dayOf(time, columns.unit, `${where}: the time`);
		const system = systemOf(fieldIn(fields, columns.system), columns, where);
		records.push({ patient, day, code, system });
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
