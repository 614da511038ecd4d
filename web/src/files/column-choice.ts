import { normaliseIcd } from "../../../src/data/codes/map.js";
import { dayInOrder, dayOfText } from "../../../src/data/records/dates.js";
import { firstRow, rowsOf } from "../../../src/data/records/delimited-rows.js";
import type { TimeIs } from "../../../src/data/records/rows.js";
import { isMissing } from "../../../src/data/records/words.js";
import {
	type ColumnChoice,
	type ColumnRole,
	columnNames,
	columnRoles,
	likelyUnit,
	neededRoles,
	numberedLike,
	type RoleColumns,
	usualColumns,
} from "./csv-columns.js";
import { headOf } from "./read-file.js";

/** The beginning of a table, for the user to say which column is which. */
export interface TablePreview {
	/** The fields of the first line. */
	readonly first: readonly string[];
	readonly rows: readonly (readonly string[])[];
	/** As chosen before, or found, or likely. */
	readonly choice: ColumnChoice;
}

/** The choices of columns, each by the first line of its tables. */
export type ColumnChoices = ReadonlyMap<string, ColumnChoice>;

/** Tables with the same first line share a choice. */
export const choiceKey = (first: readonly string[]): string => JSON.stringify(first);

const previewRows = 4;
const mostCharacters = 40;
/** A table of records has at least these. */
const leastColumns = 3;

const isDate = (text: string) =>
	(dayOfText(text) ?? dayInOrder(text, "day first") ?? dayInOrder(text, "month first")) !==
	undefined;
const isIcd = (text: string) => normaliseIcd("ICD10CM", text) !== undefined;

/** The columns numbered like the code column, without those that hold something else. */
export function moreCodesOf(
	names: readonly string[],
	{ code, ...others }: RoleColumns,
): Pick<ColumnChoice, "moreCodes"> {
	if (code === undefined) return {};
	const taken = Object.values(others);
	const moreCodes = numberedLike(names, code).filter((name) => !taken.includes(name));
	return moreCodes.length > 0 ? { moreCodes } : {};
}

/** Adds to what is known of the columns what their values show, if just one column fits, or numbered ones. */
function withLikely(
	first: readonly string[],
	rows: readonly (readonly string[])[],
	{ columns, ...choice }: ColumnChoice,
): ColumnChoice {
	const names = columnNames(first);
	const bare = first.map((name) => name.trim().replace(/[\s-]+/g, "_"));
	const likely = usualColumns(bare).choice.columns;
	const roles: Record<string, string> = {};
	for (const [role, name] of Object.entries(likely))
		roles[role] = names[columnNames(bare).indexOf(name)] as string;
	Object.assign(roles, columns);
	const taken = () => Object.values(roles);
	const only = (isOne: (text: string) => boolean): string | undefined => {
		const fitting = names.filter((name, at) => {
			const texts = rows.map((row) => row[at] ?? "").filter((text) => !isMissing(text));
			return texts.length > 0 && texts.every(isOne) && !taken().includes(name);
		});
		const [one] = fitting;
		const others = one === undefined ? [] : numberedLike(names, one);
		return fitting.slice(1).every((name) => others.includes(name)) ? one : undefined;
	};
	for (const [role, isOne] of [
		["time", isDate],
		["code", isIcd],
	] as const) {
		const name = roles[role] ?? only(isOne);
		if (name !== undefined) roles[role] = name;
	}
	const { time } = roles;
	return {
		...choice,
		...moreCodesOf(names, roles),
		columns: roles as RoleColumns,
		timeIs: time === undefined ? choice.timeIs : likelyUnit(time),
	};
}

/** Previews a table; null if the file is something else. */
export async function previewTable(
	file: Blob,
	choices: ColumnChoices,
): Promise<TablePreview | null> {
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
	const chosen = choices.get(choiceKey(first));
	if (chosen) return { first, rows, choice: chosen };
	// A file with the usual names is read by them alone.
	const { choice, unknown } = usualColumns(first);
	return { first, rows, choice: unknown ? withLikely(first, rows, choice) : choice };
}

export const roleNames: Readonly<Record<ColumnRole, string>> = {
	patient: "Patient id",
	time: "Date",
	code: "Code",
	system: "Code system",
	sex: "Sex",
	birth: "Date of birth",
	birthYear: "Year of birth",
	death: "Date of death",
	value: "Measured value",
	unit: "Unit of the value",
};
export const unitNames: Readonly<Record<TimeIs, string>> = {
	date: "dates",
	"age-years": "ages in years",
	"age-days": "ages in days",
	days: "days",
	hours: "hours",
	minutes: "minutes",
};

/** The choice after a column is given a role, which it takes from any other. */
export function withColumn(
	names: readonly string[],
	choice: ColumnChoice,
	role: ColumnRole,
	name: string | undefined,
): ColumnChoice {
	const others = Object.entries(choice.columns).filter(
		([other, column]) => other !== role && column !== name,
	);
	const columns = Object.fromEntries(name === undefined ? others : [...others, [role, name]]);
	const { moreCodes, ...rest } = choice;
	const kept = moreCodes?.filter((code) => code !== name);
	return {
		...rest,
		...(role === "code"
			? moreCodesOf(names, columns)
			: kept && kept.length > 0 && { moreCodes: kept }),
		columns,
		...(role === "time" && name !== undefined && { timeIs: likelyUnit(name) }),
		...(role === "system" && { systemOfAll: undefined }),
	};
}

/** The choice if the first line is a record, or is not: the columns stay, their names change. */
export function withFirstLine(
	choice: ColumnChoice,
	first: readonly string[],
	isRecord: boolean,
): ColumnChoice {
	const before = columnNames(first, choice.firstIsRecord);
	const after = columnNames(first, isRecord);
	const columns = Object.entries(choice.columns).map(([role, name]) => [
		role,
		after[before.indexOf(name)],
	]);
	const { moreCodes, ...rest } = choice;
	const codes = moreCodes?.flatMap((name) => after[before.indexOf(name)] ?? []);
	return {
		...rest,
		...(codes && { moreCodes: codes }),
		columns: Object.fromEntries(columns),
		firstIsRecord: isRecord,
	};
}

/** What is still to be chosen, in words. */
export function missingChoices({ columns, timeIs }: ColumnChoice): readonly string[] {
	const missing = neededRoles.filter((role) => columns[role] === undefined);
	return [
		...missing.map((role) => roleNames[role].toLowerCase()),
		...(timeIs === null ? ["what the times are"] : []),
	];
}

/** dx2, or dx2 to dx9; after some words if there are any. */
export const endsText = (names: readonly string[], before = ""): string =>
	names.length === 0 ? "" : `${before}${[...new Set([names[0], names.at(-1)])].join(" to ")}`;

/** Patient id from MRN, date from Seen (dates), code from Dx. */
export function columnsText({
	columns,
	moreCodes = [],
	timeIs,
	systemOfAll,
}: ColumnChoice): string {
	const parts = columnRoles.flatMap((role) => {
		const name = columns[role];
		const unit = role === "time" && timeIs ? ` (${unitNames[timeIs]})` : "";
		const more = role === "code" ? endsText(moreCodes, " and ") : "";
		return name === undefined
			? []
			: [`${roleNames[role].toLowerCase()} from ${name}${more}${unit}`];
	});
	const text = [...parts, ...(systemOfAll ? [`all codes are ${systemOfAll}`] : [])].join(", ");
	return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
