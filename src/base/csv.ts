/**
 * A field of a CSV file (RFC 4180). Spreadsheets evaluate texts that begin with =, +, - or @ as formulas; a leading
 * apostrophe prevents that. Numbers are written as they are.
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
