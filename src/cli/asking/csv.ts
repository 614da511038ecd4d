const field = (value: string | number | null): string => {
	const text = value === null ? "" : String(value);
	return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A line of a CSV file. */
export const csvLine = (fields: readonly (string | number | null)[]): string =>
	`${fields.map(field).join(",")}\n`;
