import { InputError } from "../../base/errors.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../../data/codes/index.js";
import { type Manifest, mapOfDataset } from "../../data/cohort/index.js";

/** The code map file that a dataset was prepared with, if any. */
export interface CodeMapOptions {
	readonly phecodeMap?: string | undefined;
	/** As given to prepare with that map. */
	readonly keepIgnored?: boolean | undefined;
}

/** The code map of a dataset; undefined if it was a file and none is given. */
export async function codeMapOf(
	manifest: Manifest,
	options: CodeMapOptions,
): Promise<CodeMap | undefined> {
	const map = await mapInFile(options, manifest.codes.level ?? "integer");
	const isFile = ![null, builtInMap().source].includes(manifest.codes.map);
	return map === undefined && isFile ? undefined : mapOfDataset(manifest, map);
}

/** The same, refused if it was a file and none is given: without it, codes of new patients would go unread. */
export const requiredCodeMap = async (
	manifest: Manifest,
	options: CodeMapOptions,
): Promise<CodeMap> => (await codeMapOf(manifest, options)) ?? mapOfDataset(manifest);

/** The code map in a file; undefined if none is given. */
export async function mapInFile(
	{ phecodeMap, keepIgnored }: CodeMapOptions,
	level: "integer" | "full",
): Promise<CodeMap | undefined> {
	if (phecodeMap !== undefined)
		return readPheCodeMap(phecodeMap, { level, ignore: keepIgnored ? "keep" : "drop" });
	if (keepIgnored)
		throw new InputError("`keepIgnored` needs `phecodeMap` FILE", { field: "keepIgnored" });
	return undefined;
}
