import { InputError } from "../../../src/base/errors.js";
import { impliedSystem } from "../../../src/records/systems.js";
import {
	birthNames,
	codeNames,
	deathNames,
	type Groups,
	patientNames,
	sexNames,
	systemNames,
	timeNames,
} from "../../../src/records/tables/column-names.js";
import { type TimeIs, unitNamed } from "../../../src/records/tables/time-units.js";

export const expectedColumns =
	"expected columns patient, time (or date) and code, and if need be system, sex, birth and death";

/** Where in a row things stand; −1 where they do not. */
export interface Columns {
	readonly patient: number;
	readonly time: number;
	readonly code: number;
	readonly system: number;
	readonly sex: number;
	readonly birth: number;
	readonly death: number;
	/** What the column of times holds, as do those of birth and death. */
	readonly unit: TimeIs;
	/** That the name of the code's column tells. */
	readonly systemOfAll: string | null;
}

const shown = (names: readonly string[]) => names.slice(0, 8).join(", ").slice(0, 120) || "nothing";

/** Found by the names that `trajgpt prepare` knows. */
export function columnsOf(header: readonly string[]): Columns {
	const names = header.map((name) => name.replace(/^\uFEFF/, "").toLowerCase());
	const find = (groups: Groups): number => {
		for (const group of groups) {
			const matches = names.flatMap((name, at) => (group.includes(name) ? [at] : []));
			if (matches.length > 1)
				throw new InputError(
					`the columns ${matches.map((at) => header[at]).join(" and ")} could both be meant; rename or remove one of them`,
				);
			if (matches[0] !== undefined) return matches[0];
		}
		return -1;
	};
	const needed = (what: string, groups: Groups): number => {
		const at = find(groups);
		if (at >= 0) return at;
		throw new InputError(
			`no column for the ${what}: the first line has ${shown(header)}; ${expectedColumns}`,
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
		unit: unitOf(names[time] as string),
		systemOfAll: impliedSystem(names[code] as string) ?? null,
	};
}

function unitOf(name: string): TimeIs {
	if (name === "age")
		throw new InputError(
			"the column age does not say what it counts; name it age_days or age_years",
		);
	return unitNamed(name) ?? (name === "days" || name === "day" ? "days" : "date");
}
