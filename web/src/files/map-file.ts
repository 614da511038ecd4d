import type { CodeMap } from "../../../src/codes/map.js";
import { isMapHeader, mapOfLines } from "../../../src/codes/map-lines.js";
import { firstRow } from "../../../src/records/delimited-rows.js";
import { matchingColumns, patientNames } from "../../../src/records/tables/column-names.js";
import { bytesOf } from "./read-file.js";
import { textOf } from "./text-of.js";

/** A map of codes that the user gave, and how much it maps. */
export interface GivenMap {
	readonly map: CodeMap;
	readonly icd: number;
	readonly snomed: number;
}

/** How much of a file is enough to see its first line. */
const headBytes = 64 * 1024;

/** Whether a file is a map of codes, as `--phecode-map` takes it, by its first line. */
export async function isMapFile(file: Blob): Promise<boolean> {
	const head = await headOf(file);
	const row = firstRow(head, { quotes: true, delimiter: "," })?.row.texts ?? [];
	const columns = row.map((name) => ({ name: name.trim() }));
	return isMapHeader(row) && matchingColumns(columns, patientNames).length === 0;
}

async function headOf(file: Blob): Promise<string> {
	const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return textOf(bytes).text;
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	const { value } = await stream
		.getReader()
		.read()
		.catch(() => ({ value: undefined }));
	return value ? textOf(value).text : "";
}

/** Reads a map by the rules of the command line. */
export async function readMap(
	file: Blob,
	name: string,
	level: "integer" | "full",
): Promise<GivenMap> {
	const bytes = await bytesOf(new Uint8Array(await file.arrayBuffer()));
	const lines = mapOfLines(name, { level });
	for (const [at, text] of textOf(bytes).text.split(/\r?\n/).entries())
		lines.add({ number: at + 1, text });
	return { map: lines.end(), ...lines.counts() };
}
