import { InputError } from "../base/errors.js";

/** The fields of one comma-separated line; quotes as in RFC 4180, without line ends inside. */
export function fieldsOf(text: string, where: string): string[] {
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
