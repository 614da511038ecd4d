import { InputError } from "../../../src/base/errors.js";
import { normaliseIcd } from "../../../src/data/codes/map.js";
import { dayInOrder, dayOfText } from "../../../src/data/records/dates.js";
import { firstRow, rowsOf } from "../../../src/data/records/delimited-rows.js";
import type { TimeIs } from "../../../src/data/records/rows.js";
import {
	matchingColumns,
	timeNames,
	unitNamed,
	usualNames,
} from "../../../src/data/records/tables/column-names.js";
import { isMissing } from "../../../src/data/records/words.js";
import { headOf } from "./read-file.js";

export const expectedColumns =
	"expected columns patient, time (or date) and code, and if need be system, value, unit, sex, birth and death";

/** What a column can hold: the names by which it is found, as `trajgpt prepare` does, and its title on the page. */
export const columnRoles = {
	patient: { names: usualNames.patient, title: "Patient id" },
	time: { names: timeNames(false), title: "Date" },
	code: { names: usualNames.code, title: "Code" },
	system: { names: usualNames.system, title: "Code system" },
	sex: { names: usualNames.sex, title: "Sex" },
	birth: { names: usualNames.birth, title: "Date of birth" },
	birthYear: { names: usualNames.birthYear, title: "Year of birth" },
	death: { names: usualNames.death, title: "Date of death" },
	value: { names: [["value", "numeric_value", "value_as_number"]], title: "Measured value" },
	unit: { names: [["unit", "units"]], title: "Unit of the value" },
} as const;
export type ColumnRole = keyof typeof columnRoles;
const allRoles = Object.keys(columnRoles) as readonly ColumnRole[];
export const neededRoles = ["patient", "time", "code"] as const;

export const unitTitles: Readonly<Record<TimeIs, string>> = {
	date: "dates",
	"age-years": "ages in years",
	"age-days": "ages in days",
	days: "days",
	hours: "hours",
	minutes: "minutes",
};

type RoleColumns = Readonly<Partial<Record<ColumnRole, number | undefined>>>;

/** Which column is which, by its index. */
export interface ColumnChoice {
	readonly columns: RoleColumns;
	/** Further columns of codes: every field with a code is a record of its own. */
	readonly moreCodes: readonly number[];
	/** The unit of the times; null if it is unknown. */
	readonly timeIs: TimeIs | null;
	/** The code system, where the table has no column for it. */
	readonly systemOfAll?: string | undefined;
	/** Whether the first line is a record instead of column names. */
	readonly firstIsRecord?: boolean | undefined;
}

/** The columns cannot be told from their names. */
export class UnknownColumns extends InputError {
	constructor(
		/** What is unknown: a sentence without its full stop. */
		readonly problem: string,
		remedy: string,
	) {
		super(`${problem}; ${remedy}`);
	}
}

/** The name of each column: as in the first line, or its number where that gives none. */
export const columnNames = (texts: readonly string[], firstIsRecord = false): readonly string[] =>
	texts.map((text, index) => (firstIsRecord ? "" : text.trim()) || `column ${index + 1}`);

/** The unit that the name of the time column implies; null if it says no unit. */
function likelyUnit(name: string): TimeIs | null {
	const bare = name.trim().toLowerCase();
	if (bare === "age") return null;
	return unitNamed(bare) ?? (bare === "days" || bare === "day" ? "days" : "date");
}

/** Finds columns by the same names as `trajgpt prepare`, and says what is not known. */
export function usualColumns(texts: readonly string[]): {
	readonly choice: ColumnChoice;
	readonly unknown: UnknownColumns | null;
} {
	const all = texts.map((name, index) => ({ name, index }));
	const columns: Partial<Record<ColumnRole, number>> = {};
	const unknown: UnknownColumns[] = [];
	for (const role of allRoles) {
		const [column, ...others] = matchingColumns(all, columnRoles[role].names);
		const isNeeded = neededRoles.some((needed) => needed === role);
		if (column && others.length === 0) columns[role] = column.index;
		else if (column)
			unknown.push(
				new UnknownColumns(
					`the columns ${[column, ...others].map(({ name }) => name).join(" and ")} could each be the ${role === "time" ? "date" : role}`,
					"rename or remove one of them",
				),
			);
		else if (isNeeded)
			unknown.push(
				new UnknownColumns(
					`no column has a usual name for the ${role}`,
					`the first line has ${columnNames(texts).slice(0, 8).join(", ").slice(0, 120)}; ${expectedColumns}: name them so in the first line`,
				),
			);
	}
	const timeIs = columns.time === undefined ? "date" : likelyUnit(texts[columns.time] as string);
	if (timeIs === null)
		unknown.push(
			new UnknownColumns(
				"the column age does not say what it counts",
				"name it age_days or age_years",
			),
		);
	return { choice: { columns, moreCodes: [], timeIs }, unknown: unknown[0] ?? null };
}

/** The columns that are numbered like that of the code, as dx2 and dx3 are like dx1, and hold nothing else. */
export function numberedCodes(names: readonly string[], { code, ...others }: RoleColumns) {
	// "column 4" is a place, not a name.
	const stem = (name = "") =>
		/^column \d+$/i.test(name.trim())
			? undefined
			: /^(.*\D)?\d+$/.exec(name.trim().toLowerCase())?.[1];
	const codeStem = code === undefined ? undefined : stem(names[code]);
	if (codeStem === undefined) return [];
	const taken = [code, ...Object.values(others)];
	return [...names.keys()].filter(
		(index) => stem(names[index]) === codeStem && !taken.includes(index),
	);
}

/** The beginning of a table, for the user to say which column is which. */
export type TablePreview = NonNullable<Awaited<ReturnType<typeof previewTable>>>;

/** The choices of columns, each by the first line of its tables. */
export type ColumnChoices = ReadonlyMap<string, ColumnChoice>;

/** Tables with the same first line share a choice. */
export const choiceKey = (first: readonly string[]): string => JSON.stringify(first);

const [previewRows, mostCharacters] = [4, 40];
/** A table of records has at least these. */
const leastColumns = 3;

const isDate = (text: string) =>
	(dayOfText(text) ?? dayInOrder(text, "day first") ?? dayInOrder(text, "month first")) !==
	undefined;
const isIcd = (text: string) => normaliseIcd("ICD10CM", text) !== undefined;

/** Adds what other spellings of the names, and the values, show: a role that just one column fits, or numbered ones. */
function likelyColumns(
	first: readonly string[],
	rows: readonly (readonly string[])[],
	choice: ColumnChoice,
): ColumnChoice {
	const bare = first.map((name) => name.trim().replace(/[\s-]+/g, "_"));
	const columns: Partial<Record<ColumnRole, number | undefined>> = {
		...usualColumns(bare).choice.columns,
		...choice.columns,
	};
	const names = columnNames(first);
	const only = (isOne: (text: string) => boolean): number | undefined => {
		const [fitting, ...others] = [...names.keys()].filter((index) => {
			const texts = rows.map((row) => row[index] ?? "").filter((text) => !isMissing(text));
			const isTaken = Object.values(columns).includes(index);
			return texts.length > 0 && texts.every(isOne) && !isTaken;
		});
		const alike = numberedCodes(names, { code: fitting });
		return others.every((index) => alike.includes(index)) ? fitting : undefined;
	};
	columns.time ??= only(isDate);
	columns.code ??= only(isIcd);
	const { time } = columns;
	return {
		...choice,
		columns,
		moreCodes: numberedCodes(names, columns),
		timeIs: time === undefined ? choice.timeIs : likelyUnit(names[time] as string),
	};
}

/** Previews a table; null if the file is something else. */
export async function previewTable(file: Blob, choices: ColumnChoices) {
	const text = await headOf(file).catch(() => "");
	if (/^\s*[<{[]/.test(text) || text.includes("\u0000")) return null;
	const begin = firstRow(text, { quotes: true });
	if (!begin || begin.row.fields < leastColumns) return null;
	const first = begin.row.texts.map((field) => field.trim());
	const rows: string[][] = [];
	for (const { texts } of rowsOf(text, { delimiter: begin.delimiter, quotes: true })) {
		rows.push(texts.map((field) => field.trim().slice(0, mostCharacters)));
		if (rows.length > previewRows) break;
	}
	rows.shift();
	// A file with the usual names is read by them alone.
	const { choice, unknown } = usualColumns(first);
	const likely = unknown ? likelyColumns(first, rows, choice) : choice;
	// Of the first line the fields; as chosen before, or found, or likely.
	return { first, rows, choice: choices.get(choiceKey(first)) ?? likely };
}

/** The choice after a column is given a role, which it takes from any other. */
export function withColumn(
	names: readonly string[],
	choice: ColumnChoice,
	role: ColumnRole,
	column: number | undefined,
): ColumnChoice {
	const others = Object.entries(choice.columns).filter(
		([other, index]) => other !== role && index !== column,
	);
	const columns: RoleColumns = { ...Object.fromEntries(others), [role]: column };
	return {
		...choice,
		columns,
		moreCodes:
			role === "code"
				? numberedCodes(names, columns)
				: choice.moreCodes.filter((code) => code !== column),
		...(role === "time" && column !== undefined && { timeIs: likelyUnit(names[column] as string) }),
		...(role === "system" && { systemOfAll: undefined }),
	};
}

/** What is still to be chosen, in words. */
export const missingChoices = ({ columns, timeIs }: ColumnChoice): readonly string[] => [
	...neededRoles
		.filter((role) => columns[role] === undefined)
		.map((role) => columnRoles[role].title.toLowerCase()),
	...(timeIs === null ? ["what the times are"] : []),
];

/** dx2, or dx2 to dx9. */
export const endsText = (names: readonly string[]): string =>
	[...new Set([names[0], names.at(-1)])].join(" to ");

/** Patient id from MRN, date from Seen (dates), code from Dx. */
export function columnsText({ first, choice }: TablePreview): string {
	const { columns, moreCodes, timeIs, systemOfAll, firstIsRecord } = choice;
	const names = columnNames(first, firstIsRecord);
	const more = moreCodes.map((index) => names[index] as string);
	const parts = allRoles.flatMap((role) => {
		const index = columns[role];
		if (index === undefined) return [];
		const unit = role === "time" && timeIs ? ` (${unitTitles[timeIs]})` : "";
		const codes = role === "code" && more.length > 0 ? ` and ${endsText(more)}` : "";
		return [`${columnRoles[role].title.toLowerCase()} from ${names[index]}${codes}${unit}`];
	});
	const text = [...parts, ...(systemOfAll ? [`all codes are ${systemOfAll}`] : [])].join(", ");
	return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
