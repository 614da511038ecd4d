import { InputError } from "../../base/errors.js";
import { explainBytes, readBytes } from "./bytes.js";

export interface Line {
	/** From 1. */
	readonly number: number;
	readonly text: string;
}

const longestLine = 64 * 1024 * 1024; // characters: far above any real history, far below memory

function explain(file: string, line: number, error: unknown): unknown {
	if ((error as NodeJS.ErrnoException).code !== "ERR_ENCODING_INVALID_ENCODED_DATA")
		return explainBytes(file, error);
	return new InputError(`${file}: not UTF-8 after line ${line}; convert the file to UTF-8`, {
		cause: error,
	});
}

/**
 * Streams the lines of a text file (or .gz), without byte order mark and Windows line ends. Memory stays within one
 * line, and no line may be longer than `limit` characters.
 */
export async function* readLines(file: string, limit = longestLine): AsyncGenerator<Line> {
	const decoder = new TextDecoder("utf-8", { fatal: true }); // removes the byte order mark
	let number = 0;
	let parts: string[] = []; // parts of the current line, joined once
	let partsLength = 0;
	const line = (text: string): Line => ({
		number: ++number,
		text: text.endsWith("\r") ? text.slice(0, -1) : text,
	});
	const check = (length: number) => {
		if (length > limit)
			throw new InputError(
				`${file}: line ${number + 1} is longer than ${limit} characters; expected one record per line`,
			);
	};
	try {
		for await (const bytes of readBytes(file)) {
			const text = decoder.decode(bytes, { stream: true });
			let from = 0;
			for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", from)) {
				check(partsLength + at - from);
				parts.push(text.slice(from, at));
				from = at + 1;
				yield line(parts.join(""));
				parts = [];
				partsLength = 0;
			}
			parts.push(text.slice(from));
			partsLength += text.length - from;
			check(partsLength);
		}
		parts.push(decoder.decode());
	} catch (error) {
		throw explain(file, number, error);
	}
	const rest = parts.join("");
	if (rest) yield line(rest);
}
