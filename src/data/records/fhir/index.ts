import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InputError } from "../../../base/errors.js";
import { counted, notesFor, readRow } from "../bad-rows.js";
import { explainBytes, readBytes } from "../bytes.js";
import type { FhirOptions } from "../options.js";
import type { RecordSource } from "../store.js";
import { NotFhirError, noResource, type ResourceEntry, ResourceParser } from "./resource-parser.js";
import { resourceReader, type SkippedResources } from "./resources-to-records.js";
import { createStaged, resolveInStore, StagedRows, type Unresolved } from "./staged-rows.js";

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
			await createStaged(store);
			const rows = new StagedRows();
			const reader = resourceReader(rows, options);
			const read = await readFiles(files, async (entry) => {
				readRow(bad, () => reader.read(entry));
				if (rows.isFull) await rows.moveTo(store);
			});
			await rows.moveTo(store);
			const unresolved = await resolveInStore(store, bad);
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
	files: readonly SourceFile[],
	readOne: (entry: ResourceEntry) => Promise<void>,
) {
	/** Files of a folder that are not FHIR. */
	const otherFiles: string[] = [];
	let entriesWithoutResource = 0;
	for (const { path, searched } of files) {
		let resources = 0;
		try {
			for await (const entry of readResources(path)) {
				if (entry === noResource) {
					entriesWithoutResource++;
					continue;
				}
				resources++;
				await readOne(entry);
			}
		} catch (error) {
			if (!(error instanceof NotFhirError && searched && resources === 0)) throw error;
			otherFiles.push(path);
		}
	}
	return { otherFiles, entriesWithoutResource };
}

/** Yields the resources of a file. */
export async function* readResources(
	file: string,
): AsyncGenerator<ResourceEntry | typeof noResource> {
	const parser = new ResourceParser(file);
	try {
		for await (const chunk of readBytes(file)) yield* parser.push(chunk);
		parser.end();
	} catch (error) {
		throw explainBytes(file, error);
	}
}

interface SourceFile {
	readonly path: string;
	/** Whether it was found in a folder, so that it may be something other than FHIR. */
	readonly searched: boolean;
}

const endings = [".json", ".ndjson"].flatMap((ending) => [ending, `${ending}.gz`]);

/** The files of the given paths; for a folder, all JSON files in and below it, sorted by name. */
async function findFiles(paths: readonly string[]): Promise<SourceFile[]> {
	const files: SourceFile[] = [];
	for (const path of paths) {
		try {
			if (!(await stat(path)).isDirectory()) {
				files.push({ path, searched: false });
				continue;
			}
			const inFolder: SourceFile[] = [];
			for await (const file of filesUnder(path)) inFolder.push({ path: file, searched: true });
			if (inFolder.length === 0)
				throw new InputError(
					`${path} is a folder without FHIR files; expected files named ${endings.join(", ")} in it or below it`,
				);
			files.push(...inFolder);
		} catch (error) {
			throw explainBytes(path, error);
		}
	}
	if (files.length === 0)
		throw new InputError("no FHIR file was named; expected a file or a folder");
	const seen = new Set<string>();
	return files.filter(({ path }) => {
		const whole = resolve(path);
		return !seen.has(whole) && seen.add(whole);
	});
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
	const entries = await readdir(folder, { withFileTypes: true });
	entries.sort((a, b) => (a.name < b.name ? -1 : 1));
	for (const entry of entries) {
		if (entry.name.startsWith(".")) continue;
		const path = join(folder, entry.name);
		if (entry.isDirectory()) yield* filesUnder(path);
		else if (endings.some((ending) => entry.name.toLowerCase().endsWith(ending)))
			if (await isFile(entry, path)) yield path;
	}
}

/** Links to folders are not followed, because they may form cycles. */
const isFile = async (entry: Dirent, path: string): Promise<boolean> =>
	entry.isFile() || (entry.isSymbolicLink() && (await stat(path)).isFile());

/** Describes what was left out or chosen while reading. */
function notesOf(
	skipped: SkippedResources,
	files: Awaited<ReturnType<typeof readFiles>>,
	unresolved: Unresolved,
): string[] {
	const { diagnosesWithoutTime, drugsWithoutTime, measurementsWithoutTime, drugsWithoutCode } =
		unresolved;
	return notesFor([
		[skipped.otherTypes.total, `resources of other types were skipped: ${skipped.otherTypes}`],
		[
			unresolved.olderVersions,
			`${counted(unresolved.olderVersions, "resource")} came again later, under the same type and id: the last one read was kept`,
		],
		[
			skipped.invalid.total,
			`left out as entered in error, refuted, cancelled, not taken or not to be given: ${skipped.invalid}`,
		],
		[
			diagnosesWithoutTime + drugsWithoutTime + measurementsWithoutTime,
			`left out for want of a time: ${counted(diagnosesWithoutTime, "diagnosis", "diagnoses")}, ${counted(drugsWithoutTime, "drug")}${measurementsWithoutTime > 0 ? `, ${counted(measurementsWithoutTime, "measurement")}` : ""}`,
		],
		[skipped.uncoded.total, `left out for want of a code with a system: ${skipped.uncoded}`],
		[
			drugsWithoutCode,
			`left out: ${counted(drugsWithoutCode, "drug")} whose Medication is in no file or has no code with a system`,
		],
		[skipped.aboutOthers.total, `left out as not about a patient: ${skipped.aboutOthers}`],
		[
			skipped.severalCodings,
			`${counted(skipped.severalCodings, "resource")} had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all`,
		],
		[
			skipped.unknownSystems.total,
			`codings of unknown systems were left out beside known ones: ${skipped.unknownSystems}; --allow-system keeps one`,
		],
		[
			unresolved.patientsUnknown,
			`${counted(unresolved.patientsUnknown, "patient")} with records but without a Patient resource: birth and sex are unknown`,
		],
		[
			skipped.deathsWithoutDate,
			`${counted(skipped.deathsWithoutDate, "patient")} died on a day that is not given`,
		],
		[
			files.entriesWithoutResource,
			`${counted(files.entriesWithoutResource, "entry without a resource was", "entries without a resource were")} skipped`,
		],
		[
			files.otherFiles.length,
			`${counted(files.otherFiles.length, "file of the folder is", "files of the folder are")} no FHIR and skipped; the first is ${files.otherFiles[0]}`,
		],
	]);
}
