import { InputError } from "../base/errors.js";
import { builtInMap, type CodeMap, readPheCodeMap } from "../codes/index.js";
import { type Manifest, mapOfDataset } from "../cohort/index.js";

/** The user's own map of codes, where the dataset was prepared with one. */
export interface CodeMapOptions {
	readonly phecodeMap?: string | undefined;
	/** As given to prepare, with that map. */
	readonly keepIgnored?: boolean | undefined;
}

/** The map of a dataset's codes; undefined where it is a file that is not given. */
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
