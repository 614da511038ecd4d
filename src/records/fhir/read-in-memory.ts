import type { SkippedResources } from "./notes.js";
import { type ResolvedRows, resolveInMemory } from "./resolve-references.js";
import { noResource, ResourceParser } from "./resource-parser.js";
import { type ReadOptions, ResourceReader } from "./resources-to-records.js";
import { MemoryRows } from "./staged-rows.js";

export interface FhirContent extends ResolvedRows {
	readonly resources: number;
	readonly skipped: SkippedResources;
}

/** Reads FHIR that fits in memory, for one file in the browser; `openFhir` reads any amount. */
export function readFhirInMemory(
	file: string,
	bytes: Uint8Array,
	options: ReadOptions = {},
): FhirContent {
	const rows = new MemoryRows();
	const reader = new ResourceReader(rows, options);
	const parser = new ResourceParser(file);
	let resources = 0;
	for (const found of parser.push(bytes)) {
		if (found === noResource) continue;
		resources++;
		reader.read(found);
	}
	parser.end();
	return { ...resolveInMemory(rows), resources, skipped: reader.skipped };
}
