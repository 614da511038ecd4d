import { writeFile } from "node:fs/promises";
import {
	type Comparison,
	csv,
	differenceTables,
	latex,
	markdown,
	textRows,
} from "../../evaluate/index.js";
import { replaceFile } from "../../files/index.js";
import { type Io, printJson } from "../io.js";
import { table } from "../table.js";
import { comparisonFiles } from "./plan.js";

const forms: Readonly<Record<string, (comparison: Comparison) => string>> = {
	json: (comparison) => `${JSON.stringify(comparison, null, 2)}\n`,
	csv,
	md: markdown,
	tex: latex,
};

/** Writes the table in every form, and prints it. */
export async function showTable(
	io: Io,
	folder: string,
	comparison: Comparison,
	asJson: boolean,
): Promise<void> {
	const files = comparisonFiles(folder);
	for (const [extension, form] of Object.entries(forms))
		await replaceFile(files.table(extension), (path) => writeFile(path, form(comparison)));
	if (asJson) {
		printJson(io, comparison);
		return;
	}
	const { header, rows } = textRows(comparison);
	io.stdout.write(table(header[0], [header[1], ...rows]));
	io.stdout.write(
		"\n±: half the width of the 95 % interval over patients; the files have both ends.\n",
	);
	for (const { title, header, rows } of differenceTables(comparison))
		io.stdout.write(`\n${title}\n\n${table(header, rows)}`);
	io.stdout.write("\n");
	for (const note of comparison.notes) io.stdout.write(`${note}\n`);
	for (const { label, reason } of comparison.failed)
		io.stdout.write(`${label} failed: ${reason}\n`);
	const written = Object.keys(forms).map((extension) => files.table(extension));
	io.stdout.write(`written: ${written.join(", ")}\n`);
}
