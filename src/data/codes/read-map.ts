import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { InputError } from "../../base/errors.js";
import { readLines } from "../records/bytes.js";
import { fieldsOf } from "../records/delimited-rows.js";
import { type CodeMap, normalisePheCode, type PheCode } from "./map.js";
import { type MapRules, mapOfLines } from "./map-lines.js";

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

/** The catalogue's `pheinfo.csv`: phecode, description, group, in any order, other columns too. */
async function readPheCodeNames(file: string): Promise<Map<string, PheCode>> {
	const names = new Map<string, PheCode>();
	let columns: readonly number[] | undefined;
	for await (const { number, text } of readLines(file)) {
		if (!text.trim()) continue;
		const where = `${file}: line ${number}`;
		const fields = fieldsOf(text, where);
		if (!columns) {
			const header = fields.map((field) => field.toLowerCase());
			columns = ["phecode", "description", "group"].map((name) => header.indexOf(name));
			if (columns.includes(-1))
				throw new InputError(
					`${where} has the columns ${fields.join(", ")}; expected phecode, description, group`,
				);
			continue;
		}
		const [code = "", name = "", group] = columns.map((at) => fields[at]);
		const phecode = normalisePheCode(code);
		if (phecode === undefined)
			throw new InputError(`${where} has PheCode "${code}"; expected a number such as 250.2`);
		if (!name)
			throw new InputError(`${where} has no description; expected phecode,description,…,group`);
		names.set(phecode, { code: phecode, name, category: group || null });
	}
	if (names.size === 0)
		throw new InputError(`${file} names no PheCode; expected a header and lines such as 250,…`);
	return names;
}
