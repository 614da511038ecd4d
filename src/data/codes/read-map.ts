import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { readLines } from "../records/lines.js";
import type { CodeMap } from "./map.js";
import { type MapRules, mapOfLines } from "./map-lines.js";
import { readPheCodeNames } from "./read-names.js";

export interface PheCodeMapOptions extends MapRules {
	/** A `pheinfo.csv`. Default: the one next to the map, if there is one. */
	readonly names?: string | undefined;
}

/**
 * Reads an official map, or one of your own, as CSV or .gz. It may map SNOMED CT concepts, too; a file that maps nothing
 * else leaves ICD codes to the built-in map, at integer level. Apart from that, the rules of the built-in map are
 * not used, only its names, if neither the file nor a `pheinfo.csv` has one.
 */
export async function readPheCodeMap(
	file: string,
	options: PheCodeMapOptions = {},
): Promise<CodeMap> {
	const map = mapOfLines(file, options);
	for await (const line of readLines(file)) map.add(line);
	if (map.counts().icd + map.counts().snomed === 0) return map.end();
	const beside = join(dirname(file), "pheinfo.csv");
	const names = options.names ?? (existsSync(beside) ? beside : undefined);
	return map.end(names === undefined ? undefined : await readPheCodeNames(names));
}
