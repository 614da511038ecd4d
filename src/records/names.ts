import { InputError } from "../base/errors.js";
import { readLines } from "./lines.js";
import type { CodeName, RecordKind } from "./rows.js";

const kinds: readonly string[] = ["diagnosis", "drug", "other"] satisfies RecordKind[];

/** The fields of one comma-separated line; quotes as in RFC 4180, without line ends inside. */
function fieldsOf(text: string, where: string): string[] {
	const fields: string[] = [];
	let at = 0;
	while (true) {
		while (text[at] === " " || text[at] === "\t") at++;
		let field = "";
		if (text[at] === '"') {
			at++;
			while (true) {
				const end = text.indexOf('"', at);
				if (end < 0) throw new InputError(`${where}: a quote is opened and never closed`);
				field += text.slice(at, end);
				at = end + 1;
				if (text[at] !== '"') break;
				field += '"';
				at++;
			}
			const comma = text.indexOf(",", at);
			const after = text.slice(at, comma < 0 ? undefined : comma);
			if (after.trim())
				throw new InputError(`${where}: text after a closing quote; expected a comma`);
			at = comma < 0 ? text.length : comma;
		} else {
			const comma = text.indexOf(",", at);
			field = text.slice(at, comma < 0 ? undefined : comma).trimEnd();
			at = comma < 0 ? text.length : comma;
		}
		fields.push(field);
		if (at >= text.length) return fields;
		at++;
	}
}

/**
 * Names of codes from a small CSV file: code, name and, where given, category and kind, in this
 * order. The first line is a header.
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
