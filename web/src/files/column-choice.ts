import type { TimeIs } from "../../../src/data/records/tables/column-names.js";
import {
	type ColumnChoice,
	type ColumnRole,
	columnNames,
	columnRoles,
	likelyUnit,
	neededRoles,
} from "./csv-columns.js";
import { moreCodesOf } from "./table-preview.js";

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
