import { InputError } from "../../../src/base/errors.js";

const delimiters = [",", "\t", ";", "|"] as const;

/** The rows of a table in text, quoted as in RFC 4180; the first has the names. */
export function rowsOf(text: string): string[][] {
	const firstLine = text.slice(0, text.search(/\r?\n|$/));
	const delimiter = delimiters.reduce((best, one) =>
		firstLine.split(one).length > firstLine.split(best).length ? one : best,
	);
	const rows: string[][] = [];
	let row: string[] = [];
	let at = 0;
	while (at < text.length) {
		let field = "";
		if (text[at] === '"') {
			at++;
			for (;;) {
				const end = text.indexOf('"', at);
				if (end < 0)
					throw new InputError(
						`line ${rows.length + 1}: a quote is opened and never closed; close it or remove it`,
					);
				field += text.slice(at, end);
				at = end + 1;
				if (text[at] !== '"') break;
				field += '"';
				at++;
			}
		}
		const start = at;
		while (at < text.length && text[at] !== delimiter && text[at] !== "\n") at++;
		field += text.slice(start, at).replace(/\r$/, "");
		row.push(field.trim());
		if (at >= text.length || text[at] === "\n") {
			if (row.length > 1 || row[0] !== "") rows.push(row);
			row = [];
		}
		at++;
	}
	if (row.length > 0) rows.push([...row, ""]);
	return rows;
}
