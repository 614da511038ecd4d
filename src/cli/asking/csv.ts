import { csvField } from "../../base/csv.js";

/** A line of a CSV file. */
export const csvLine = (fields: readonly (string | number | null)[]): string =>
	`${fields.map(csvField).join(",")}\n`;
