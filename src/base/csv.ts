/**
 * A field of a CSV file (RFC 4180). A spreadsheet runs a text that begins with =, +, - or @ as a formula;
 * an apostrophe before it keeps it a text. Numbers are written as they are.
 */
export function csvField(value: string | number | boolean | null): string {
	if (value === null) return "";
	if (typeof value !== "string") return String(value);
	const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A line of a CSV file. */
export const csvLine = (fields: readonly (string | number | null)[]): string =>
	`${fields.map(csvField).join(",")}\n`;
