import { readBytes } from "./bytes.js";

export interface Dialect {
	readonly delimiter: string;
	/** Whether fields may stand in double quotes. */
	readonly quotes: boolean;
}

/** One row of a delimited file as its bytes tell it. */
export interface ScannedRow {
	/** Where it begins, from 1. */
	readonly line: number;
	readonly fields: number;
	/** The last field is empty and stands on no quote. */
	readonly openEnd: boolean;
	readonly bytes: number;
	readonly fault: "open quote" | "text after quote" | "line end" | undefined;
}

const CR = 13;
const LF = 10;
const SPACE = 32;
const QUOTE = 34;

/**
 * Walks over the rows of a file, empty lines left out, until `visit` says true. It is slower than
 * DuckDB by far and runs only when something has to be named: the row that DuckDB could not take.
 */
export async function scanRows(
	file: string,
	{ delimiter, quotes }: Dialect,
	visit: (row: ScannedRow) => boolean,
): Promise<void> {
	const separator = delimiter.charCodeAt(0);
	let line = 1; // being read
	let begun = 1; // where the row under way begins
	let fields = 1;
	let bytes = 0;
	let fieldBytes = 0; // of the field under way, leading blanks left out
	let state: "field" | "quoted" | "closed" = "field";
	let fault: ScannedRow["fault"];
	let ends: "LF" | "CRLF" | "CR" | undefined;
	let afterReturn = false;
	let mark = 0; // bytes of a byte order mark still to come
	let first = true;

	const row = (): boolean => {
		const found: ScannedRow = { line: begun, fields, openEnd: fieldBytes === 0, bytes, fault };
		fields = 1;
		fieldBytes = 0;
		bytes = 0;
		state = "field";
		fault = undefined;
		return found.bytes > 0 && visit(found);
	};
	const end = (kind: "LF" | "CRLF" | "CR"): boolean => {
		ends ??= kind;
		if (kind !== ends) fault ??= "line end";
		const stop = row();
		line++;
		begun = line;
		return stop;
	};

	for await (const chunk of readBytes(file)) {
		if (first) mark = chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? 3 : 0;
		first = false;
		for (let at = mark; at < chunk.length; at++) {
			const byte = chunk[at] as number;
			if (afterReturn) {
				afterReturn = false;
				if (end(byte === LF ? "CRLF" : "CR")) return;
				if (byte === LF) continue;
			}
			if (byte > QUOTE && byte !== separator && state !== "closed") {
				bytes++; // nearly all bytes
				fieldBytes++;
			} else if (state === "quoted") {
				bytes++;
				if (byte === QUOTE) state = "closed";
				else if (byte === LF) line++;
			} else if (byte === CR) afterReturn = true;
			else if (byte === LF) {
				if (end("LF")) return;
			} else {
				bytes++;
				if (byte === separator) {
					fields++;
					fieldBytes = 0;
					state = "field";
				} else if (state === "closed") {
					if (byte === QUOTE) state = "quoted";
					else if (byte !== SPACE) fault ??= "text after quote";
				} else if (byte === QUOTE && quotes && fieldBytes === 0) {
					fieldBytes++;
					state = "quoted";
				} else if (byte !== SPACE) fieldBytes++;
			}
		}
		mark = 0;
	}
	if (afterReturn) {
		end("CR");
		return;
	}
	if (state === "quoted") fault ??= "open quote";
	row();
}
