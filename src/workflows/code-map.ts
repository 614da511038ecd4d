import { InputError } from "../base/errors.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../codes/index.js";
import { type Manifest, mapOfDataset } from "../cohort/index.js";

/** The code map file that a dataset was prepared with, if any. */
export interface CodeMapOptions {
	readonly phecodeMap?: string | undefined;
	/** As given to prepare with that map. */
	readonly keepIgnored?: boolean | undefined;
}

/** The code map of a dataset; undefined if it was a file and none is given. */
export async function codeMapOf(
	manifest: Manifest,
	{ phecodeMap, keepIgnored }: CodeMapOptions,
): Promise<CodeMap | undefined> {
	if (keepIgnored && phecodeMap === undefined)
		throw new InputError("`keepIgnored` needs `phecodeMap` FILE", { field: "keepIgnored" });
	if (phecodeMap === undefined) {
		const isFile = ![null, builtInMap().source].includes(manifest.codes.map);
		return isFile ? undefined : mapOfDataset(manifest);
	}
	const level = manifest.codes.level ?? "integer";
	const ignore = keepIgnored ? "keep" : "drop";
	return mapOfDataset(manifest, await readPheCodeMap(phecodeMap, { level, ignore }));
}
