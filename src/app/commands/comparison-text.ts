import { table } from "../../base/table.js";
import { type Comparison, differenceTables, partsOf, textRows } from "../../evaluate/index.js";
import { tableFiles } from "../workflows/compare/compare.js";
import { interruptible } from "./interruptible.js";
import { Exit, type Io, printJson } from "./io.js";

/** Runs a comparison, interruptible with Ctrl-C, prints its table, and fails if a cell failed. */
export const printComparison = (
	io: Io,
	{ out, json }: { readonly out: string; readonly json?: true },
	work: (signal: AbortSignal) => Promise<Comparison>,
	pictures: readonly string[] = [],
): Promise<void> =>
	interruptible(
		io,
		async (signal) => {
			const comparison = await work(signal);
			if (json) printJson(io, comparison);
			else io.stdout.write(comparisonText([...tableFiles(out), ...pictures], comparison));
			if (comparison.failed.length > 0) throw new Exit(1);
		},
		() => "stopping: every cell finishes its step and saves",
	);

function comparisonText(files: readonly string[], comparison: Comparison): string {
	const parts = partsOf(comparison);
	const linesOf = (part: Comparison) => {
		const { header, rows } = textRows(part);
		return table(header[0], [header[1], ...rows]);
	};
	return [
		parts.map(linesOf).join("\n"),
		"\n±: half the width of the 95 % interval over patients; the files have both ends.\n",
		...parts
			.flatMap(differenceTables)
			.map(({ title, header, rows }) => `\n${title}\n\n${table(header, rows)}`),
		"\n",
		...comparison.notes.map((note) => `${note}\n`),
		...comparison.failed.map(({ label, reason }) => `${label} failed: ${reason}\n`),
		`written: ${files.join(", ")}\n`,
	].join("");
}
