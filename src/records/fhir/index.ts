import { InputError } from "../../base/errors.js";
import type { RecordSource } from "../rows.js";
import type { Store } from "../store.js";
import { type CodingOptions, chooseCodings } from "./codings.js";
import { type FoundFile, findFiles } from "./files.js";
import { joinStaged } from "./join.js";
import { NotFhirError } from "./not-fhir.js";
import { type FilesRead, notesOf } from "./notes.js";
import { type ReadOptions, ResourceReader } from "./read.js";
import { noResource, readResources } from "./resources.js";
import { Stage } from "./stage.js";

/**
 * - `allCodings`: all codings of a condition or drug, instead of the one of the best known system.
 * - `encounterReasons`: the reasons of encounters are diagnoses too.
 * - `allowSystems`: code systems beyond those of `systems.ts`, which pass under their own names.
 */
export interface FhirOptions extends CodingOptions, ReadOptions {}

/**
 * Opens FHIR R4 as JSON: Bundles, resources, and bulk exports of one resource a line, .gz too.
 * A folder stands for all such files in it and under it.
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
		async load(store) {
			const stage = await Stage.open(store);
			const reader = new ResourceReader(stage, chooseCodings(options), options);
			const read = await readFiles(files, reader, stage);
			const missing = await joinStaged(store);
			await stage.close();
			const notes = notesOf(reader.leftOut, read, missing);
			if (await isEmpty(store))
				throw new InputError(
					`${path} has no Patient and no usable record; expected Patient, Condition, MedicationRequest or MedicationStatement resources; ${notes.join("; ") || "found no resource at all"}`,
				);
			return { axis: "dates", notes };
		},
	};
}

async function readFiles(
	files: readonly FoundFile[],
	reader: ResourceReader,
	stage: Stage,
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
				reader.read(found);
				if (stage.full) await stage.flush();
			}
		} catch (error) {
			if (!(error instanceof NotFhirError && searched && resources === 0)) throw error;
			otherFiles.push(path);
		}
	}
	await stage.flush();
	return { otherFiles, entriesWithoutResource };
}

async function isEmpty(store: Store): Promise<boolean> {
	const rows = "(SELECT 1 FROM record LIMIT 1) UNION ALL (SELECT 1 FROM person LIMIT 1)";
	return (await store.all(rows)).length === 0;
}
