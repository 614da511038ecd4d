/** A plain text table: numbers right-aligned, texts left-aligned, two spaces between columns. */
export function table(
	header: readonly string[],
	rows: readonly (readonly (string | number)[])[],
): string {
	const cells = rows.map((row) => row.map(show));
	const widths = header.map((name, at) =>
		Math.max(name.length, ...cells.map((row) => row[at]?.length ?? 0)),
	);
	const isNumber = header.map((_, at) => rows.every((row) => typeof row[at] === "number"));
	const line = (row: readonly string[]) =>
		row
			.map((cell, at) => {
				const width = widths[at] as number;
				return isNumber[at] ? cell.padStart(width) : cell.padEnd(width);
			})
			.join("  ")
			.trimEnd();
	return `${[header, ...cells].map(line).join("\n")}\n`;
}

/** A share to one digit: 12.3 %. */
export const percent = (part: number, of = 1): string =>
	of === 0 ? "none" : `${((100 * part) / of).toFixed(1)} %`;

/** Whole numbers with thousands separators, others to about three figures. */
function show(value: string | number): string {
	if (typeof value === "string") return value;
	const digits =
		Number.isInteger(value) || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 1 : 3;
	return value.toLocaleString("en-US", {
		minimumFractionDigits: digits,
		maximumFractionDigits: digits,
	});
}

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
