import { InputError } from "../../../base/errors.js";
import { type BadRows, counted } from "../bad-rows.js";
import { expectedYears, isYear, oldestYears } from "../dates.js";
import type { TableOptions } from "../options.js";
import type { Split, TimeIs } from "../rows.js";
import { type Column, quoted, type Table } from "../sql.js";
import type { Store } from "../store.js";
import { type Fault, stageRows } from "../table.js";
import { missingWords, sexes } from "../words.js";
import { daysIn, isAge, matchingColumns, statedUnit, usualNames } from "./column-names.js";
import { columnAsked, columnLikely, columnNamed, columnOr, missingColumn } from "./columns.js";
import {
	badTime,
	chosen,
	daysBeside,
	daysOf,
	isBadTime,
	isNumber,
	rawText,
	textOf,
	type UnitBeside,
} from "./values.js";

/** The words for each split. */
export const splits: Readonly<Record<Split, readonly string[]>> = {
	train: ["train", "training"],
	valid: ["valid", "val", "validation", "tuning", "dev"],
	test: ["test", "testing", "held_out", "heldout"],
};

const personColumns = ["sex", "birth", "birthYear", "age", "death"] as const;
const birthOptions = ["birth", "birthYear", "age"] as const;

/** Rejects options on columns of people that no table of people has. */
export function checkPeopleOptions(tables: readonly Table[], options: TableOptions): void {
	const births = birthOptions.filter((name) => options[name] !== undefined);
	if (births.length > 1)
		throw new InputError(
			`${births.map((name) => `\`${name}\``).join(" and ")} each name a column of the birth; choose one`,
		);
	if (options.peopleTimeIs !== undefined && tables.length === 0)
		throw new InputError("`peopleTimeIs` is the unit of the people; pass `people` FILE, too", {
			field: "peopleTimeIs",
			value: options.peopleTimeIs,
		});
	for (const name of personColumns) {
		const column = options[name];
		if (column === undefined) continue;
		if (tables.length === 0)
			throw new InputError(`\`${name}\` names a column of the people; pass \`people\` FILE, too`, {
				field: name,
				value: column,
			});
		columnAsked(tables, column, `\`${name}\``);
	}
}

/** A column that holds a birth or death. */
type Moment = ReturnType<typeof momentIn>;

const noText = "NULL::VARCHAR";

const missing = [...new Set([...missingWords, "NaT"].map((word) => word.toUpperCase()))]
	.map(quoted)
	.join(", ");
const textOrNull = (column: Column) =>
	`CASE WHEN upper(trim(${rawText(column)})) IN (${missing}) THEN NULL ELSE ${rawText(column)} END`;

function momentIn(column: Column, beside: UnitBeside, format: string | undefined) {
	const { unit } = beside;
	return {
		name: column.name,
		/** SQL for days, NULL where it cannot be read. */
		days: daysBeside(column, beside, format),
		/** SQL for the text, NULL where it is missing. */
		text: textOrNull(column),
		isBad: (days: string) => isBadTime(days, unit),
		explain: (text: string | null, days: number | null) =>
			badTime(text, days, column, unit, format),
	};
}

/** A fact about people, staged with its text. */
interface Field {
	/** SQL; NULL where it cannot be read. */
	readonly value: string;
	readonly text?: string;
	readonly fault: Fault;
	/** What a note says, given counts. */
	readonly says: (counts: Readonly<Record<string, number>>) => string;
}

const momentField = (of: "birth" | "death", moment: Moment | undefined): Field | undefined =>
	moment && {
		value: moment.days,
		text: moment.text,
		fault: {
			when: `${moment.isBad(of)} AND ${of}_text IS NOT NULL`,
			say: (row) =>
				`: ${moment.explain(row[`${of}_text`] as string | null, row[of] as number | null)}`,
		},
		says: (counts) => `${of} is ${moment.name} (${counts[of]} known)`,
	};

const patientField = (column: Column): Field => ({
	value: textOf(column, "whole"),
	fault: {
		when: "patient IS NULL",
		say: () => `: ${column.name} is empty; every row needs a patient: fill it in or remove the row`,
	},
	says: () => `patient is ${column.name}`,
});

function sexField(column: Column, meanings: TableOptions["sexValues"] = {}): Field {
	const words = [...sexes, ...Object.entries(meanings)].map(
		([word, sex]) => [word.trim().toLowerCase(), sex ?? "unknown"] as const,
	);
	const text = `coalesce(lower(${textOf(column, "whole")}), '')`;
	return {
		value: chosen(text, new Map(words)),
		text,
		fault: {
			when: "sex IS NULL",
			say: () =>
				`: ${column.name} is not a word we know; expected female, male, F, M or nothing where it is not known, or say what its values mean, as in \`sexValues\` 0=female,1=male,d=unknown`,
		},
		says: ({ female, male, unknown }) =>
			`sex is ${column.name} (${female} female, ${male} male, ${unknown} unknown)`,
	};
}

function splitField(column: Column): Field {
	const words = Object.entries(splits).flatMap(([split, names]) =>
		names.map((name) => [name, split] as const),
	);
	return {
		value: chosen(`lower(${textOf(column)})`, words),
		text: textOrNull(column),
		fault: {
			when: "split IS NULL AND split_text IS NOT NULL",
			say: () => `: ${column.name} is not one of train, valid, test`,
		},
		says: () => `split is ${column.name}`,
	};
}

/** A birth so many years before time 0. The highest ages are often hidden: "> 89" is read as 90. */
function birthByAge(column: Column, records: TimeIs): Moment {
	if (records === "date")
		throw new InputError(
			`\`age\` is the age at time 0, and the records have dates; name a column with \`birth\` or \`birthYear\``,
			{ field: "age", value: column.name },
		);
	const stated = statedUnit(column.name) ?? "years";
	const unit = (["age-days", "age-years"] as const).find((age) => daysIn[age] === daysIn[stated]);
	if (unit === undefined)
		throw new InputError(
			`${column.file}: the name of column ${column.name} states ${stated}, and \`age\` is in years or days; convert the ages, or rename the column if they are in years`,
			{ field: "age", value: column.name },
		);
	const hidden = `regexp_extract(${rawText(column)}, '^\\s*>\\s*([0-9]+)\\s*$', 1)`;
	const age = isNumber(column)
		? daysOf(column, unit)
		: `coalesce(${daysOf(column, unit)}, (try_cast(${hidden} AS DOUBLE) + 1) * ${daysIn[unit]})`;
	return {
		name: `${column.name} before time 0 (${unit})`,
		days: `-(${age})`,
		text: textOrNull(column),
		isBad: (birth) => isBadTime(`(-${birth})`, unit),
		explain: (text) =>
			`${column.name} is ${JSON.stringify(text?.trim().slice(0, 40))}; expected an age from 0 to ${oldestYears} years (${unit}): correct it or remove the row`,
	};
}

/** A birth of which only the year is known: on 1 July, the day with the smallest error. */
function birthInYear(tables: readonly Table[], options: TableOptions): Moment | undefined {
	const anchorYear = columnLikely(tables, usualNames.anchorYear);
	const anchorAge = columnLikely(tables, usualNames.anchorAge);
	const yearColumn = columnOr(tables, options.birthYear, usualNames.birthYear);
	const column = yearColumn ?? (anchorAge && anchorYear);
	if (!column) return undefined;
	const number = (source: Column) =>
		isNumber(source)
			? `CAST(${source.sql} AS DOUBLE)`
			: `try_cast(nullif(trim(${source.sql}), '') AS DOUBLE)`;
	const year = yearColumn
		? number(yearColumn)
		: `(${number(anchorYear as Column)} - ${number(anchorAge as Column)})`;
	const name = yearColumn ? yearColumn.name : `${anchorYear?.name} - ${anchorAge?.name}`;
	return {
		name: `the year in ${name} (1 July)`,
		days: `CASE WHEN ${isYear(year)} THEN (make_date(${year}::INTEGER, 7, 1) - DATE '1970-01-01')::DOUBLE END`,
		text: yearColumn ? textOrNull(yearColumn) : `CAST(${year} AS VARCHAR)`,
		isBad: (days) => `${days} IS NULL`,
		explain: (text) =>
			`${name} is ${JSON.stringify(text?.trim().slice(0, 40))}; ${expectedYears}: correct it or remove the row`,
	};
}

/** Reads a table of people into `person`. */
export async function loadPeople(
	store: Store,
	table: Table,
	unit: TimeIs,
	beside: UnitBeside,
	options: TableOptions,
	bad?: BadRows,
): Promise<{ readonly notes: readonly string[]; readonly warnings: readonly string[] }> {
	const tables = [table];
	const patient = columnOr(tables, options.patient, usualNames.patient);
	if (!patient) throw missingColumn(tables, "the patient", "call it patient");
	const sex = columnOr(tables, options.sex, usualNames.sex);
	const age = options.age === undefined ? undefined : columnNamed(tables, options.age);
	const birthDate =
		options.birthYear === undefined && !age
			? columnOr(tables, options.birth, usualNames.birth)
			: undefined;
	const deathDate = columnOr(tables, options.death, usualNames.death);
	const split = columnLikely(tables, usualNames.split);
	const ages = isAge(unit);
	const birthYear = birthDate || age ? undefined : birthInYear(tables, options);
	if (!sex && !birthDate && !birthYear && !age && !deathDate && !split)
		throw missingColumn(
			tables,
			"sex, birth, death or split",
			"name them with `sex`, `birth`, `birthYear`, `age` or `death`",
		);

	const inTime = (column: Column) => momentIn(column, beside, options.dateFormat);
	const birthRead = () => {
		if (ages) return undefined;
		if (age) return birthByAge(age, unit);
		if (birthDate) return inTime(birthDate);
		return unit === "date" ? birthYear : undefined;
	};
	const birth = birthRead();
	const fields: Readonly<Record<string, Field | undefined>> = {
		patient: patientField(patient),
		sex: sex && sexField(sex, options.sexValues),
		birth: momentField("birth", birth),
		death: momentField("death", deathDate && inTime(deathDate)),
		split: split && splitField(split),
	};
	const columns = Object.entries(fields).flatMap(([name, field]) => [
		[name, field?.value ?? noText],
		[`${name}_text`, field?.text ?? noText],
	]);
	const present = Object.values(fields).filter((field) => field !== undefined);
	const faults = present.map(({ fault }) => fault);
	await stageRows(store, table, "given_person", Object.fromEntries(columns), { faults, bad });
	await store.run(
		`INSERT INTO person SELECT patient, birth, nullif(sex, 'unknown'), death, split, ${quoted(`${table.file}: row `)} || row FROM given_person ORDER BY row`,
	);
	const [counts = {}] = await store.all<Record<string, number>>(
		`SELECT count(*) AS people, count(*) FILTER (sex = 'female') AS female, count(*) FILTER (sex = 'male') AS male,
			count(*) FILTER (sex = 'unknown') AS unknown, count(birth) AS birth, count(death) AS death FROM given_person`,
	);
	const warnings = sex ? await unexplainedSexes(store, sex, options.sexValues) : [];
	await store.run("DROP TABLE given_person");
	const said = present.map(({ says }) => says(counts)).join(", ");
	const notes = [`${table.file}: ${counted(counts.people ?? 0, "person", "people")}; ${said}`];
	const left = ages ? (birthDate ?? age)?.name : birth ? undefined : birthYear?.name;
	const why = ages ? "are ages: birth is at 0" : "are not dates";
	if (left !== undefined) notes.push(`${table.file}: ${left} was not read, for the times ${why}`);
	const unread =
		ages || birth || unit === "date"
			? undefined
			: matchingColumns(table.columns, usualNames.personAge)[0]?.name;
	if (unread !== undefined)
		notes.push(
			`${table.file}: ${unread} was not read, and no birth is known; if it is the age in years at time 0, pass \`age\` ${unread}`,
		);
	return { notes, warnings };
}

/** Warns of numbers for sex that mean nothing. */
async function unexplainedSexes(
	store: Store,
	{ file, name }: Column,
	meanings: TableOptions["sexValues"] = {},
): Promise<string[]> {
	const values = await store.all<{ text: string; people: number }>(
		"SELECT sex_text AS text, count(*) AS people FROM given_person WHERE sex = 'unknown' AND regexp_matches(sex_text, '\\d') GROUP BY sex_text ORDER BY people DESC, sex_text LIMIT 5",
	);
	const explained = Object.keys(meanings).map((word) => word.trim().toLowerCase());
	const shown = values
		.filter(({ text }) => !explained.includes(text.trim().toLowerCase()))
		.map(({ text, people }) => `${JSON.stringify(text)} (${people})`);
	if (shown.length === 0) return [];
	return [
		`${file}: values of ${name} that are read as unknown: ${shown.join(", ")}; as in ISO 5218, 1 is read as male and 2 as female: if the values mean something else, say what each means with \`sexValues\`: VALUE=female,VALUE=male,VALUE=unknown`,
	];
}

/** If times are ages, everybody is born at 0. */
export const birthsAtZero = (store: Store): Promise<void> =>
	store.run(
		"INSERT INTO person SELECT DISTINCT ON (patient) patient, 0, NULL, NULL, NULL, 'age 0' FROM record",
	);
