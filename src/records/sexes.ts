import type { Sex } from "./rows.js";

/** Words and numbers for sex, including ISO 5218 and OMOP concepts. Null means unknown. */
export const sexes: ReadonlyMap<string, Sex | null> = new Map<string, Sex | null>([
	["f", "female"],
	["female", "female"],
	["w", "female"],
	["woman", "female"],
	["2", "female"],
	["8532", "female"],
	["m", "male"],
	["male", "male"],
	["man", "male"],
	["1", "male"],
	["8507", "male"],
	["u", null],
	["unknown", null],
	["o", null],
	["other", null],
	["", null],
	["0", null],
	["9", null],
	["8551", null],
	["8521", null],
]);

/** The sex of a value, null if absent or unknown; undefined for any other value. */
export function sexOf(value: unknown): Sex | null | undefined {
	if (value === undefined || value === null) return null;
	return typeof value === "string" ? sexes.get(value.trim().toLowerCase()) : undefined;
}
