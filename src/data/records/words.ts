import type { Sex } from "./rows.js";

/** Words that tables use for a missing value. */
export const missingWords: readonly string[] = [
	"",
	..."NULL null Null NA na N/A n/a NAN nan NaN NONE none None".split(" "),
];

export const isMissing = (text: string): boolean => missingWords.includes(text);

/** Words and numbers for sex, including ISO 5218 and OMOP concepts. Null means unknown. */
export const sexes: ReadonlyMap<string, Sex | null> = new Map<string, Sex | null>([
	...["f", "female", "w", "woman", "2", "8532"].map((word) => [word, "female"] as const),
	...["m", "male", "man", "1", "8507"].map((word) => [word, "male"] as const),
	...["u", "unknown", "o", "other", "", "0", "9", "8551", "8521"].map(
		(word) => [word, null] as const,
	),
]);

/** The sex of a value, null if absent or unknown; undefined for any other value. */
export function sexOf(value: unknown): Sex | null | undefined {
	if (value === undefined || value === null) return null;
	return typeof value === "string" ? sexes.get(value.trim().toLowerCase()) : undefined;
}
