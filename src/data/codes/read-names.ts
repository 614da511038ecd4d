import { InputError } from "../../base/errors.js";
import { fieldsOf } from "../records/delimited-rows.js";
import { readLines } from "../records/lines.js";
import { normalisePheCode, type PheCode } from "./map.js";

/** The catalogue's `pheinfo.csv`: phecode, description, group, in any order, other columns too. */
export async function readPheCodeNames(file: string): Promise<Map<string, PheCode>> {
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
