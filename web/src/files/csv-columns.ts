import { InputError } from "../../../src/base/errors.js";
import type { TimeIs } from "../../../src/data/records/rows.js";
import { impliedSystem } from "../../../src/data/records/systems.js";
import {
	birthNames,
	birthYearNames,
	codeNames,
	deathNames,
	type Groups,
	matchingColumns,
	patientNames,
	sexNames,
	systemNames,
	type TableOptions,
	timeNames,
	unitNamed,
} from "../../../src/data/records/tables/column-names.js";

export const expectedColumns =
	"expected columns patient, time (or date) and code, and if need be system, value, unit, sex, birth and death";

/** What a column can hold, as the options of `trajgpt prepare` name it. */
const usualNames = {
	patient: patientNames,
	time: timeNames(false),
	code: codeNames,
	system: systemNames,
	sex: sexNames,
	birth: birthNames,
	birthYear: birthYearNames,
	death: deathNames,
	value: [["value", "numeric_value", "value_as_number"]],
	unit: [["unit", "units"]],
} as const satisfies Partial<Record<keyof TableOptions, Groups>>;

export type ColumnRole = keyof typeof usualNames;
export const columnRoles = Object.keys(usualNames) as readonly ColumnRole[];
export const neededRoles = ["patient", "time", "code"] as const satisfies readonly ColumnRole[];

/** The name of the column of each role; a role that is left out has none. */
export type RoleColumns = Readonly<Partial<Record<ColumnRole, string>>>;

/** Which column is which. */
export interface ColumnChoice {
	readonly columns: RoleColumns;
	/** Further columns of codes: every field with a code is a record of its own. */
	readonly moreCodes?: readonly string[] | undefined;
	/** The unit of the times; null if it is unknown. */
	readonly timeIs: TimeIs | null;
	/** The code system, where the table has no column for it. */
	readonly systemOfAll?: string | undefined;
	/** Whether the first line is a record instead of column names. */
	readonly firstIsRecord?: boolean | undefined;
}

/** The index of each column in a row; −1 if there is none. */
export interface Columns extends Readonly<Record<Exclude<ColumnRole, "unit">, number>> {
	/** The unit of the value. */
	readonly valueUnit: number;
	/** The unit of the columns of time, birth and death. */
	readonly unit: TimeIs;
	/** All columns of codes, with the system of codes that name none. */
	readonly codes: readonly { readonly at: number; readonly system: string | null }[];
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

const shown = (names: readonly string[]) => names.slice(0, 8).join(", ").slice(0, 120) || "nothing";

/** Distinct names of the columns: as in the first line, or by place where that gives none. */
export function columnNames(texts: readonly string[], firstIsRecord = false): readonly string[] {
	const seen = new Set<string>();
	return texts.map((text, at) => {
		const place = `column ${at + 1}`;
		const title = firstIsRecord ? "" : text.trim();
		const name = seen.has(title.toLowerCase()) ? `${title} (${place})` : title || place;
		seen.add(name.toLowerCase());
		return name;
	});
}

/** The unit that the name of the time column implies; null if it says no unit. */
export function likelyUnit(name: string): TimeIs | null {
	const bare = name.trim().toLowerCase();
	if (bare === "age") return null;
	return unitNamed(bare) ?? (bare === "days" || bare === "day" ? "days" : "date");
}

/** Finds columns by the same names as `trajgpt prepare`, and says what is not known. */
export function usualColumns(texts: readonly string[]): {
	readonly choice: ColumnChoice;
	readonly unknown: UnknownColumns | null;
} {
	const names = columnNames(texts);
	const all = texts.map((name, at) => ({ name, unique: names[at] as string }));
	const columns: Partial<Record<ColumnRole, string>> = {};
	const unknown: UnknownColumns[] = [];
	for (const role of columnRoles) {
		const [column, ...others] = matchingColumns(all, usualNames[role]);
		if (others.length > 0)
			unknown.push(
				new UnknownColumns(
					`the columns ${[column, ...others].map((one) => one?.name).join(" and ")} could each be the ${role === "time" ? "date" : role}`,
					"rename or remove one of them",
				),
			);
		else if (column) columns[role] = column.unique;
		else if (neededRoles.some((needed) => needed === role))
			unknown.push(
				new UnknownColumns(
					`no column has a usual name for the ${role}`,
					`the first line has ${shown(names)}; ${expectedColumns}: name them so in the first line`,
				),
			);
	}
	const timeIs = columns.time === undefined ? "date" : likelyUnit(columns.time);
	if (timeIs === null)
		unknown.push(
			new UnknownColumns(
				"the column age does not say what it counts",
				"name it age_days or age_years",
			),
		);
	return { choice: { columns, timeIs }, unknown: unknown[0] ?? null };
}

/** Where the columns of a choice are. */
export function placesOf(
	names: readonly string[],
	{ columns, moreCodes = [], timeIs, systemOfAll }: ColumnChoice,
): Columns {
	const place = (role: ColumnRole) => {
		const name = columns[role];
		return name === undefined ? -1 : names.indexOf(name);
	};
	const { unit, ...others } = Object.fromEntries(
		columnRoles.map((role) => [role, place(role)]),
	) as Record<ColumnRole, number>;
	return {
		...others,
		valueUnit: unit,
		unit: timeIs ?? "date",
		codes: [columns.code ?? "", ...moreCodes].map((name) => ({
			at: names.indexOf(name),
			system: systemOfAll ?? impliedSystem(name) ?? null,
		})),
	};
}

/** Columns that are numbered like one of codes: of dx1, dx2 and dx3. */
export function numberedLike(names: readonly string[], code: string): readonly string[] {
	// "column 4" is a place, not a name.
	const stem = (name: string) =>
		/^column \d+$/i.test(name.trim())
			? undefined
			: /^(.*\D)?\d+$/.exec(name.trim().toLowerCase())?.[1];
	const codeStem = stem(code);
	return codeStem === undefined
		? []
		: names.filter((name) => name !== code && stem(name) === codeStem);
}
