import { InputError } from "../../base/errors.js";
import { readLines } from "./bytes.js";
import { fieldsOf } from "./delimited-rows.js";
import { type CodeNameRow, type RecordKind, recordKinds } from "./rows.js";
import { systemNamed } from "./systems.js";
import { matchingColumns, usualNames } from "./tables/column-names.js";

/** The name of a code; without a system, in every system. */
export interface NamedCode extends Omit<CodeNameRow, "system"> {
	readonly system: string | null;
}

const kinds: readonly string[] = recordKinds;
const titles = [["name", "title", "long_title", "description", "concept_name"]];

/**
 * The place of each column in a row; −1 if there is none. Columns are found by their names, if both code and name are;
 * otherwise by their places.
 */
function placesOf(header: readonly string[]) {
	const columns = header.map((name, at) => ({ name, at }));
	const find = (groups: readonly (readonly string[])[]) =>
		matchingColumns(columns, groups)[0]?.at ?? -1;
	const [code, name] = [find(usualNames.code), find(titles)];
	if (code < 0 || name < 0) return { code: 0, name: 1, category: 2, kind: 3, system: -1 };
	return {
		code,
		name,
		category: find([["category", "group"]]),
		kind: find([["kind"]]),
		system: find(usualNames.system),
	};
}

/**
 * Reads the names of codes from a small CSV file with a header: code, name and, optionally, category and kind, in this
 * order, or columns of these names in any order, such as icd_code, icd_version and long_title of MIMIC-IV.
 */
export async function readCodeNames(file: string): Promise<readonly NamedCode[]> {
	const names = new Map<string, NamedCode>();
	let places: ReturnType<typeof placesOf> | undefined;
	for await (const { number, text } of readLines(file)) {
		const where = `${file}: line ${number}`;
		if (!text.trim() && number > 1) continue;
		const fields = fieldsOf(text, where);
		if (!places) {
			places = placesOf(fields);
			continue;
		}
		const { [places.code]: code, [places.name]: name, [places.category]: category } = fields;
		const { [places.kind]: kind, [places.system]: written } = fields;
		if (!code || !name)
			throw new InputError(
				`${where} has no ${code ? "name" : "code"}; expected code,name[,category[,kind]]`,
			);
		if (kind && !kinds.includes(kind))
			throw new InputError(`${where} has kind "${kind}"; expected one of ${kinds.join(", ")}`);
		const system = written ? (systemNamed(written) ?? written) : null;
		const key = `${system ?? ""}\u0000${code}`;
		if (names.has(key))
			throw new InputError(`${where} names code ${code} a second time; keep one of the two`);
		names.set(key, {
			system,
			code,
			name,
			category: category || null,
			kind: (kind as RecordKind | undefined) || null,
		});
	}
	if (names.size === 0)
		throw new InputError(`${file} names no code; expected a header and lines code,name`);
	return [...names.values()];
}
