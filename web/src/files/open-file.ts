import { InputError } from "../../../src/base/errors.js";
import type { TableOptions } from "./csv.js";
import { AmbiguousDates } from "./date-reading.js";
import { type GivenMap, isMapFile, readMap } from "./map-file.js";
import { checkSize, readContent } from "./read-file.js";
import type { FileRules } from "./records.js";
import { type FilePatients, toPatients } from "./to-patients.js";

const knowsMeasurements = ({ tokens }: FileRules["vocabulary"]) =>
	tokens.some(({ system, value }) => value !== undefined || system === "LOINC");

/** The share of the time that goes into reading rows; the rest into patients. */
const rowsShare = 0.5;

/** A file of records, and a map of codes; either may be missing. */
export interface GivenFiles {
	readonly records?: File | undefined;
	readonly map?: File | undefined;
}

/** Tells which of the new files is which; what is missing stays as it was. */
export async function sortFiles(files: readonly File[], before: GivenFiles): Promise<GivenFiles> {
	const maps: File[] = [];
	const records: File[] = [];
	for (const file of files) ((await isMapFile(file)) ? maps : records).push(file);
	for (const [some, what] of [
		[maps, "maps of codes"],
		[records, "files of records"],
	] as const)
		if (some.length > 1)
			throw new InputError(
				`${some.map(({ name }) => name).join(" and ")} are two ${what}; open one at a time`,
			);
	return { records: records[0] ?? before.records, map: maps[0] ?? before.map };
}

/** Reads a map of codes, as the model's records were mapped. */
export const openMap = (map: File, { rules }: FileRules): Promise<GivenMap> =>
	readMap(map, map.name, rules.level ?? "integer");

/** Reads the patients of a file. Any error becomes an `InputError`, except a question about dates. */
export async function openFile(
	file: Pick<Blob, "size" | "arrayBuffer">,
	{ vocabulary, rules }: FileRules,
	{ order, columns, onProgress }: TableOptions = {},
	map?: GivenMap,
): Promise<FilePatients> {
	checkSize(file.size);
	const bytes = await file.arrayBuffer().catch((cause: unknown) => {
		throw new InputError(
			"the file could not be read from the disk; see whether it is still there and may be opened",
			{ cause },
		);
	});
	try {
		const content = await readContent(new Uint8Array(bytes), {
			order,
			columns,
			measurements: knowsMeasurements(vocabulary),
			onProgress: (share) => onProgress?.(rowsShare * share),
		});
		onProgress?.(rowsShare);
		return toPatients(content, vocabulary, rules, map, (share) =>
			onProgress?.(rowsShare + (1 - rowsShare) * share),
		);
	} catch (error) {
		if (error instanceof InputError || error instanceof AmbiguousDates) throw error;
		const name = error instanceof Error ? error.name : "unknown";
		throw new InputError(
			`the file holds something that the page cannot deal with (${name}); export it again, or try it as CSV with the columns patient, time and code`,
			{ cause: error },
		);
	}
}
