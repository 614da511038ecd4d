import { InputError } from "../../../src/base/errors.js";

const delimiters = [",", "\t", ";", "|"] as const;

export interface Row {
	/** Where it begins in the file, from 1. */
	readonly line: number;
	readonly fields: readonly string[];
}

/** The rows of a table in text, quoted as in RFC 4180; the first has the names. Empty lines are none. */
export function* rowsOf(text: string): Generator<Row> {
	const firstLine = text.slice(0, text.search(/\r?\n|$/));
	const delimiter = delimiters.reduce((best, one) =>
		firstLine.split(one).length > firstLine.split(best).length ? one : best,
	);
	let fields: string[] = [];
	let [at, line, begins] = [0, 1, 1];
	while (at < text.length) {
		let field = "";
		if (text[at] === '"') {
			at++;
			for (;;) {
				const end = text.indexOf('"', at);
				if (end < 0)
					throw new InputError(
						`line ${begins}: a quote is opened and never closed; close it or remove it`,
					);
				const part = text.slice(at, end);
				for (const letter of part) if (letter === "\n") line++;
				field += part;
				at = end + 1;
				if (text[at] !== '"') break;
				field += '"';
				at++;
			}
		}
		const start = at;
		while (at < text.length && text[at] !== delimiter && text[at] !== "\n") at++;
		field += text.slice(start, at).replace(/\r$/, "");
		fields.push(field.trim());
		if (at >= text.length || text[at] === "\n") {
			if (fields.length > 1 || fields[0] !== "") yield { line: begins, fields };
			fields = [];
			line++;
			begins = line;
		}
		at++;
	}
	if (fields.length > 0) yield { line: begins, fields: [...fields, ""] };
}
