import type { CodeMap } from "../../../src/data/codes/map.js";
import { isMapHeader, mapOfLines } from "../../../src/data/codes/map-lines.js";
import { firstRow } from "../../../src/data/records/delimited-rows.js";
import { matchingColumns, patientNames } from "../../../src/data/records/tables/column-names.js";
import { bytesOf, headOf, textOf } from "./read-file.js";

/** A map of codes that the user gave, and how much it maps. */
export interface GivenMap {
	readonly map: CodeMap;
	readonly icd: number;
	readonly snomed: number;
}

/** Whether a file is a map of codes, as `--phecode-map` takes it, by its first line. */
export async function isMapFile(file: Blob): Promise<boolean> {
	const head = await headOf(file).catch(() => "");
	const row = firstRow(head, { quotes: true, delimiter: "," })?.row.texts ?? [];
	const columns = row.map((name) => ({ name: name.trim() }));
	return isMapHeader(row) && matchingColumns(columns, patientNames).length === 0;
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
