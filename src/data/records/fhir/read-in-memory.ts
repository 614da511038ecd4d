import { InputError } from "../../../base/errors.js";
import { noResource, ResourceParser } from "./resource-parser.js";
import { type ReadOptions, resourceReader, type SkippedResources } from "./resources-to-records.js";
import { type ResolvedRows, resolveInMemory, StagedRows } from "./staged-rows.js";

export interface FhirContent extends ResolvedRows {
	readonly resources: number;
	readonly skipped: SkippedResources;
}

/**
 * Reads FHIR that fits in memory, for one file in the browser; `openFhir` reads any amount. With `onBad`, resources
 * that cannot be read are left out.
 */
export function readFhirInMemory(
	file: string,
	bytes: Uint8Array,
	options: ReadOptions = {},
	onBad?: (error: InputError) => void,
): FhirContent {
	const rows = new StagedRows();
	const reader = resourceReader(rows, options);
	const parser = new ResourceParser(file);
	let resources = 0;
	for (const entry of parser.push(bytes)) {
		if (entry === noResource) continue;
		resources++;
		try {
			reader.read(entry);
		} catch (error) {
			if (!(onBad && error instanceof InputError)) throw error;
			onBad(error);
		}
	}
	parser.end();
	return { ...resolveInMemory(rows), resources, skipped: reader.skipped };
}
