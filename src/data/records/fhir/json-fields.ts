/** An object of unknown JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Fields | undefined =>
	typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as Fields)
		: undefined;

/** The objects of a list; a single object counts as a list of one. */
export function listOf(value: unknown): Fields[] {
	const list = Array.isArray(value) ? value : [value];
	return list.map(objectOf).filter((fields) => fields !== undefined);
}

/** The trimmed text; undefined if it is empty or not a text. */
export const textOf = (value: unknown): string | undefined =>
	typeof value === "string" ? value.trim() || undefined : undefined;

/** A short description of a value for messages. */
export function shapeOf(value: unknown, longest = 40): string {
	if (typeof value === "string")
		return value.length > longest ? `a text of ${value.length} characters` : JSON.stringify(value);
	if (value === undefined) return "nothing";
	if (value === null) return "null";
	if (Array.isArray(value)) return "a list";
	return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
