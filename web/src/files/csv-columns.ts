import { InputError } from "../../../src/base/errors.js";
import { impliedSystem } from "../../../src/records/systems.js";
import {
	birthNames,
	codeNames,
	deathNames,
	type Groups,
	matchingColumns,
	patientNames,
	sexNames,
	systemNames,
	type TimeIs,
	timeNames,
	unitNamed,
} from "../../../src/records/tables/column-names.js";

export const expectedColumns =
	"expected columns patient, time (or date) and code, and if need be system, value, unit, sex, birth and death";

/** The index of each column in a row; −1 if there is none. */
export interface Columns {
	readonly patient: number;
	readonly time: number;
	readonly code: number;
	readonly system: number;
	readonly sex: number;
	readonly birth: number;
	readonly death: number;
	readonly value: number;
	/** The unit of the value. */
	readonly valueUnit: number;
	/** The unit of the columns of time, birth and death. */
	readonly unit: TimeIs;
	/** The system implied by the name of the code column. */
	readonly systemOfAll: string | null;
}

const shown = (names: readonly string[]) => names.slice(0, 8).join(", ").slice(0, 120) || "nothing";

/** Finds columns by the same names as `trajgpt prepare`. */
export function columnsOf(header: readonly string[]): Columns {
	const columns = header.map((name, at) => ({ name, at }));
	const find = (groups: Groups): number => {
		const [column, ...others] = matchingColumns(columns, groups);
		if (others.length > 0)
			throw new InputError(
				`the columns ${[column, ...others].map((one) => one?.name).join(" and ")} could both be meant; rename or remove one of them`,
			);
		return column?.at ?? -1;
	};
	const needed = (what: string, groups: Groups): number => {
		const at = find(groups);
		if (at >= 0) return at;
		throw new InputError(
			`no column for the ${what}: the first line has ${shown(header)}; ${expectedColumns}: name them so in the first line`,
		);
	};
	const patient = needed("patient", patientNames);
	const time = needed("time", timeNames(false));
	const code = needed("code", codeNames);
	return {
		...{ patient, time, code },
		system: find(systemNames),
		sex: find(sexNames),
		birth: find(birthNames),
		death: find(deathNames),
		value: find([["value", "numeric_value", "value_as_number"]]),
		valueUnit: find([["unit", "units"]]),
		unit: unitOf((header[time] as string).toLowerCase()),
		systemOfAll: impliedSystem(header[code] as string) ?? null,
	};
}

function unitOf(name: string): TimeIs {
	if (name === "age")
		throw new InputError(
			"the column age does not say what it counts; name it age_days or age_years",
		);
	return unitNamed(name) ?? (name === "days" || name === "day" ? "days" : "date");
}
