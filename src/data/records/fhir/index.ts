import { InputError } from "../../../base/errors.js";
import { readRow } from "../bad-rows.js";
import { explainBytes, readBytes } from "../bytes.js";
import type { RecordSource } from "../rows.js";
import { type FoundFile, findFiles } from "./files.js";
import { NotFhirError } from "./json-splitter.js";
import { type FilesRead, notesOf } from "./notes.js";
import { resolveInStore } from "./resolve-references.js";
import { type FoundResource, noResource, ResourceParser } from "./resource-parser.js";
import { type ReadOptions, ResourceReader } from "./resources-to-records.js";
import { PendingRows, StoreRows } from "./staged-rows.js";

export type FhirOptions = Omit<ReadOptions, "unusable">;

/**
 * Opens FHIR R4 as JSON: Bundles, resources, and bulk exports with one resource per line (or .gz). A folder means all
 * such files in and below it.
 */
export async function openFhir(
	paths: string | readonly string[],
	options: FhirOptions = {},
): Promise<RecordSource> {
	const files = await findFiles(typeof paths === "string" ? [paths] : paths);
	const path = typeof paths === "string" ? paths : paths.join(", ");
	return {
		format: "fhir",
		path,
		async load(store, bad) {
			const rows = await StoreRows.create(store);
			const pending = bad && new PendingRows(rows);
			const reader = new ResourceReader(pending ?? rows, options);
			const readOne = (found: FoundResource) => {
				readRow(bad, () => {
					pending?.clear();
					reader.read(found);
					pending?.keep();
				});
			};
			const read = await readFiles(files, readOne, rows);
			const unresolved = await resolveInStore(store, bad);
			await rows.drop();
			const notes = notesOf(reader.skipped, read, unresolved);
			if ((await store.count("record")) + (await store.count("person")) === 0)
				throw new InputError(
					`${path} has no Patient and no usable record; expected Patient, Condition, MedicationRequest or MedicationStatement resources; ${notes.join("; ") || "found no resource at all"}`,
				);
			return { axis: "dates", notes };
		},
	};
}

async function readFiles(
	files: readonly FoundFile[],
	readOne: (found: FoundResource) => void,
	rows: StoreRows,
): Promise<FilesRead> {
	const otherFiles: string[] = [];
	let entriesWithoutResource = 0;
	for (const { path, searched } of files) {
		let resources = 0;
		try {
			for await (const found of readResources(path)) {
				if (found === noResource) {
					entriesWithoutResource++;
					continue;
				}
				resources++;
				readOne(found);
				if (rows.isFull) await rows.write();
			}
		} catch (error) {
			if (!(error instanceof NotFhirError && searched && resources === 0)) throw error;
			otherFiles.push(path);
		}
	}
	await rows.write();
	return { otherFiles, entriesWithoutResource };
}

/** Yields the resources of a file. */
export async function* readResources(
	file: string,
): AsyncGenerator<FoundResource | typeof noResource> {
	const parser = new ResourceParser(file);
	try {
		for await (const chunk of readBytes(file)) yield* parser.push(chunk);
		parser.end();
	} catch (error) {
		throw explainBytes(file, error);
	}
}
