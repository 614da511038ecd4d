import { InputError } from "../../base/errors.js";

export interface Dialect {
	/** One character. */
	readonly delimiter: string;
	/** Whether fields may be in double quotes, as in RFC 4180. */
	readonly quotes: boolean;
}

type LineEnd = "\n" | "\r\n" | "\r";

/** One row of delimited text. */
export interface DelimitedRow {
	/** The line on which it begins, from 1. */
	readonly line: number;
	readonly fields: number;
	/** The fields without quotes; unquoted fields are trimmed. Empty unless requested. */
	readonly texts: readonly string[];
	/** Whether the last field is empty and not quoted. */
	readonly openEnd: boolean;
	/** In characters, without the line end. */
	readonly length: number;
	readonly lineEnd: LineEnd;
	readonly fault: "open quote" | "text after quote" | "line end" | undefined;
}

/** Faults of a row, with what to do. */
export const quoteFaults = {
	"open quote": "a quote is opened and never closed; close it, or double quotes inside a field",
	"text after quote":
		"text after a closing quote; expected a delimiter (double quotes inside a field)",
} as const;

const CR = 13;
const LF = 10;
const SPACE = 32;
const QUOTE = 34;

/** Finds the rows of delimited text in chunks. Empty lines are skipped. */
export class RowScanner {
	readonly #delimiter: number;
	readonly #quotes: boolean;
	readonly #withTexts: boolean;
	#line = 1; // being read
	#begun = 1; // where the current row begins
	#fields = 1;
	#length = 0;
	#fieldLength = 0; // of the current field, without leading blanks
	#blanks = 0; // before it
	#state: "field" | "quoted" | "closed" = "field";
	#isQuoted = false;
	#text = ""; // of the current field, from chunks before this one and up to a quote
	#texts: string[] = [];
	#fault: DelimitedRow["fault"];
	#lineEnd: LineEnd | undefined;
	#afterReturn = false;

	constructor({ delimiter, quotes }: Dialect, withTexts = false) {
		this.#delimiter = delimiter.charCodeAt(0);
		this.#quotes = quotes;
		this.#withTexts = withTexts;
	}

	*push(chunk: string): Generator<DelimitedRow> {
		let from = 0; // where the text of the current field continues
		const takeText = (to: number) => {
			if (this.#withTexts && this.#state !== "closed") this.#text += chunk.slice(from, to);
		};
		const endField = (to: number) => {
			takeText(to);
			this.#endText();
			from = to + 1;
		};
		for (let at = 0; at < chunk.length; at++) {
			const character = chunk.charCodeAt(at);
			if (this.#afterReturn) {
				this.#afterReturn = false;
				const row = this.#endRow(character === LF ? "\r\n" : "\r");
				if (row) yield row;
				from = at;
				if (character === LF) {
					from++;
					continue;
				}
			}
			if (character > QUOTE && character !== this.#delimiter && this.#state !== "closed") {
				this.#length++; // nearly all characters
				this.#fieldLength++;
			} else if (this.#state === "quoted") {
				this.#length++;
				if (character === QUOTE) {
					takeText(at);
					this.#state = "closed";
				} else if (character === LF) this.#line++;
			} else if (character === CR) {
				endField(at);
				this.#afterReturn = true;
			} else if (character === LF) {
				endField(at);
				const row = this.#endRow("\n");
				if (row) yield row;
			} else {
				this.#length++;
				if (character === this.#delimiter) {
					endField(at);
					this.#fields++;
					this.#fieldLength = 0;
					this.#blanks = 0;
					this.#state = "field";
				} else if (this.#state === "closed") {
					if (character === QUOTE) {
						this.#state = "quoted";
						from = at;
					} else if (character !== SPACE) this.#fault ??= "text after quote";
				} else if (character === QUOTE && this.#quotes && this.#opensField()) {
					this.#fieldLength++;
					this.#state = "quoted";
					this.#isQuoted = true;
					this.#text = "";
					from = at + 1;
				} else if (character !== SPACE) this.#fieldLength++;
				else if (this.#fieldLength === 0) this.#blanks++;
			}
		}
		if (!this.#afterReturn) takeText(chunk.length);
	}

	/** The last row, if no line end follows it; call after the last chunk. */
	*end(): Generator<DelimitedRow> {
		if (this.#state === "quoted") this.#fault ??= "open quote";
		if (!this.#afterReturn) this.#endText();
		const row = this.#endRow(this.#afterReturn ? "\r" : (this.#lineEnd ?? "\n"));
		if (row) yield row;
	}

	/** As in DuckDB: a quote opens a field at its start or after one blank; elsewhere it is a character. */
	#opensField(): boolean {
		return this.#fieldLength === 0 && this.#blanks <= 1;
	}

	#endText(): void {
		if (this.#withTexts) this.#texts.push(this.#isQuoted ? this.#text : this.#text.trim());
		this.#text = "";
		this.#isQuoted = false;
	}

	#endRow(lineEnd: LineEnd): DelimitedRow | undefined {
		this.#lineEnd ??= lineEnd;
		if (lineEnd !== this.#lineEnd) this.#fault ??= "line end";
		const row: DelimitedRow = {
			line: this.#begun,
			fields: this.#fields,
			texts: this.#texts,
			openEnd: this.#fieldLength === 0,
			length: this.#length,
			lineEnd,
			fault: this.#fault,
		};
		this.#texts = [];
		this.#fields = 1;
		this.#length = 0;
		this.#fieldLength = 0;
		this.#blanks = 0;
		this.#state = "field";
		this.#fault = undefined;
		this.#line++;
		this.#begun = this.#line;
		return row.length > 0 ? row : undefined;
	}
}

/** The rows of a text with their fields. */
export function* rowsOf(text: string, dialect: Dialect): Generator<DelimitedRow> {
	const scanner = new RowScanner(dialect, true);
	yield* scanner.push(text);
	yield* scanner.end();
}

const delimiters = [",", "\t", ";", "|"];

/** The delimiter that gives the first row the most fields, and that row; undefined for an empty text. */
export function firstRow(
	text: string,
	{ quotes, delimiter }: { readonly quotes: boolean; readonly delimiter?: string | undefined },
): { readonly delimiter: string; readonly row: DelimitedRow } | undefined {
	let best: { readonly delimiter: string; readonly row: DelimitedRow } | undefined;
	for (const one of delimiter === undefined ? delimiters : [delimiter]) {
		const [row] = rowsOf(text, { delimiter: one, quotes });
		if (row && !(best && best.row.fields >= row.fields)) best = { delimiter: one, row };
	}
	return best;
}

/** The fields of one comma-separated line. */
export function fieldsOf(line: string, where: string): readonly string[] {
	const [row, another] = rowsOf(line, { delimiter: ",", quotes: true });
	if (another)
		throw new InputError(`${where} contains a carriage return; expected one row per line`);
	if (row?.fault && row.fault !== "line end")
		throw new InputError(`${where}: ${quoteFaults[row.fault]}`);
	return row?.texts ?? [""];
}
