import { InputError } from "../base/errors.js";
import { fieldsOf } from "./delimited-rows.js";
import { readLines } from "./lines.js";
import type { CodeNameRow, RecordKind } from "./rows.js";
import { recordKinds } from "./rows.js";

export type CodeName = Pick<CodeNameRow, "name" | "category" | "kind">;

const kinds: readonly string[] = recordKinds;

/**
 * Reads the names of codes from a small CSV file with a header: code, name and, optionally, category and kind, in
 * this order.
 */
export async function readCodeNames(file: string): Promise<Map<string, CodeName>> {
	const names = new Map<string, CodeName>();
	for await (const { number, text } of readLines(file)) {
		if (number === 1 || !text.trim()) continue;
		const where = `${file}: line ${number}`;
		const [code, name, category, kind] = fieldsOf(text, where);
		if (!code || !name)
			throw new InputError(
				`${where} has no ${code ? "name" : "code"}; expected code,name[,category[,kind]]`,
			);
		if (kind && !kinds.includes(kind))
			throw new InputError(`${where} has kind "${kind}"; expected one of ${kinds.join(", ")}`);
		if (names.has(code))
			throw new InputError(`${where} names code ${code} a second time; keep one of the two`);
		names.set(code, {
			name,
			category: category || null,
			kind: (kind as RecordKind | undefined) || null,
		});
	}
	if (names.size === 0)
		throw new InputError(`${file} names no code; expected a header and lines code,name`);
	return names;
}
