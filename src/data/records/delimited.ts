import { open, stat } from "node:fs/promises";
import { InputError } from "../../base/errors.js";
import { explainBytes, firstBytes, isGzip, readBytes } from "./bytes.js";
import {
	type DelimitedRow,
	type Dialect,
	firstRow,
	quoteFaults,
	RowScanner,
} from "./delimited-rows.js";
import { named, quoted, type Table } from "./sql.js";
import { literalPath } from "./store.js";

export interface DelimitedOptions {
	/** One character, or `tab`; by default detected from the first line. */
	readonly delimiter?: string | undefined;
	/** Column names for a file without a header. */
	readonly columns?: readonly string[] | undefined;
	/** Whether fields may be in double quotes; true by default. */
	readonly quotes?: boolean | undefined;
}

/** A delimited text file as a table: every column VARCHAR, an empty field NULL. */
export interface DelimitedTable extends Table, Dialect {
	readonly header: boolean;
}

const longestRow = 2 ** 21; // bytes; DuckDB holds whole rows in memory

/**
 * Checks a delimited file (or .gz) before DuckDB reads it: that it is text, its columns and its delimiter. A packed
 * file is unpacked once to check it, which DuckDB does not do.
 */
export async function openDelimited(file: string, options: DelimitedOptions = {}) {
	try {
		return await look(file, options);
	} catch (error) {
		throw explainBytes(file, error);
	}
}

async function look(file: string, options: DelimitedOptions): Promise<DelimitedTable> {
	if ((await stat(file)).isDirectory())
		throw new InputError(`${file} is a folder; expected a file`);
	const start = await firstBytes(file, 4);
	const packed = isGzip(start);
	if (!packed) refuseOtherFormats(file, start);
	const head = await headOf(file);
	if (!packed && head.includes(0)) refuseOtherFormats(file, head);
	const quotes = options.quotes ?? true;
	const { delimiter, row } = headerOf(file, head, quotes, delimiterOf(options.delimiter));
	const skip = row.line - 1; // empty lines before it
	const fields = row.texts.map((text) => text.trim());
	if (options.columns && options.columns.length !== fields.length)
		throw new InputError(
			`${file}: line ${skip + 1} has ${fields.length} fields; expected ${options.columns.length}: ${options.columns.join(", ")}`,
		);
	const columns = options.columns ?? columnNames(file, fields);
	const layout = await layoutOf(file, packed);
	if (layout === "long rows") await refuseLongRows(file, { delimiter, quotes });
	const header = options.columns === undefined;
	const sqlWith = (typeOf: (column: string) => string, settings: readonly string[]) => {
		const types = columns.map((name) => `${quoted(name)}: '${typeOf(name)}'`);
		const all = [
			quoted(literalPath(file)),
			"auto_detect = false",
			`header = ${header}`,
			`skip = ${skip}`,
			`delim = ${quoted(delimiter)}`,
			`quote = ${quotes ? `'"'` : "''"}`,
			`escape = ${quotes ? `'"'` : "''"}`,
			`compression = '${packed ? "gzip" : "none"}'`,
			`max_line_size = ${longestRow}`,
			`parallel = ${layout === "even"}`,
			`columns = {${types.join(", ")}}`,
			// DuckDB assumes that the first line end it meets, even inside a name, is that of all rows.
			...(fields.some((text) => /[\r\n]/.test(text))
				? [`new_line = '${row.lineEnd.replace("\r", "\\r").replace("\n", "\\n")}'`]
				: []),
			...settings,
		];
		return `read_csv(${all.join(", ")})`;
	};
	const table: DelimitedTable = {
		file,
		format: "csv",
		columns: columns.map((name) => ({ file, name, type: "VARCHAR", sql: named(name) })),
		header,
		delimiter,
		quotes,
		sql: sqlWith(() => "VARCHAR", []),
		// Without a format DuckDB would silently cut off the time of day.
		dated: (column) =>
			sqlWith((name) => (name === column ? "DATE" : "VARCHAR"), ["dateformat = '%Y-%m-%d'"]),
		places: async (rows) => (await linesOfRows(table, rows)).map((line) => `${file}: line ${line}`),
		explain: (error) => explainDelimited(table, error),
	};
	return table;
}

async function refuseLongRows(file: string, dialect: Dialect): Promise<void> {
	await scanRows(file, dialect, ({ length, line }) => {
		if (length > longestRow) throw new InputError(`${file}: ${tooLong(line)}`);
		return false;
	});
}

const tooLong = (line: number) =>
	`line ${line} is longer than ${longestRow} bytes; expected one record per line: is a quote not closed?`;

function refuseOtherFormats(file: string, bytes: Buffer): void {
	const starts = (text: string) => bytes.subarray(0, text.length).toString("latin1") === text;
	if (starts("PAR1"))
		throw new InputError(`${file} is a Parquet file, not text; read it with \`format\` parquet`);
	if (starts("PK\x03\x04"))
		throw new InputError(`${file} is a zip or Excel file, not text; unpack it or save it as CSV`);
	if (starts("\x28\xb5\x2f\xfd"))
		throw new InputError(`${file} is packed with zstd; unpack it, or pack it with gzip`);
	if (starts("\xff\xfe") || starts("\xfe\xff"))
		throw new InputError(`${file} is UTF-16; convert it to UTF-8`);
	if (bytes.length > 4) throw new InputError(`${file} is not text: it contains zero bytes`);
}

/** The beginning of a file, up to the maximum length of its first row. */
export async function headOf(file: string): Promise<Buffer> {
	const parts: Uint8Array[] = [];
	let length = 0;
	for await (const bytes of readBytes(file)) {
		parts.push(bytes);
		length += bytes.length;
		// A quoted name may contain line ends, but not as many bytes as this.
		if (length >= 2 ** 16 && bytes.some((byte) => byte === 10 || byte === 13)) break;
		if (length > longestRow) break;
	}
	return Buffer.concat(parts);
}

/** The text of a file's first bytes, without the byte order mark. */
export const textOf = (head: Buffer): string => head.toString("utf8").replace(/^\ufeff/, "");

/** The first row that is not empty, and its delimiter. */
function headerOf(file: string, head: Buffer, quotes: boolean, delimiter: string | undefined) {
	const header = firstRow(textOf(head), { quotes, delimiter });
	if (header && header.row.length > longestRow)
		throw new InputError(
			`${file}: line ${header.row.line} is longer than ${longestRow} bytes; expected the names of columns`,
		);
	if (!header)
		throw new InputError(`${file} is empty; expected a line with the names of the columns`);
	if (header.row.texts.some((text) => text.includes("\ufffd")))
		throw new InputError(
			`${file}: line ${header.row.line} is not UTF-8; convert the file to UTF-8`,
		);
	return header;
}

/**
 * Visits the rows of a file until `visit` returns true. Far slower than DuckDB, so it runs only to find the row that
 * DuckDB could not read.
 */
export async function scanRows(
	file: string,
	dialect: Dialect,
	visit: (row: DelimitedRow) => boolean,
): Promise<void> {
	const scanner = new RowScanner(dialect);
	let isFirst = true;
	for await (const bytes of readBytes(file)) {
		// One character per byte: the scanner looks for ASCII only, which UTF-8 does not change.
		const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
		for (const row of scanner.push(isFirst ? chunk.replace(/^\xef\xbb\xbf/, "") : chunk))
			if (visit(row)) return;
		isFirst = false;
	}
	for (const row of scanner.end()) visit(row);
}

function delimiterOf(option: string | undefined): string | undefined {
	if (option === undefined) return undefined;
	const delimiter = option === "tab" || option === "\\t" ? "\t" : option;
	if (/^[ -!#-~\t]$/.test(delimiter)) return delimiter;
	throw new InputError(
		`the delimiter is ${JSON.stringify(option)}; expected one character such as , ; | or the word tab`,
	);
}

function columnNames(file: string, fields: readonly string[]): string[] {
	const seen = new Set<string>();
	return fields.map((field, at) => {
		const name = field || `column ${at + 1}`;
		const key = name.toLowerCase();
		if (seen.has(key))
			throw new InputError(
				`${file}: two columns are named "${name}"; give one of them another name in the first line`,
			);
		seen.add(key);
		return name;
	});
}

/** The lines (from 1) of rows (from 1, without the header), which are in order. */
async function linesOfRows(table: DelimitedTable, rows: readonly number[]): Promise<number[]> {
	const lines: number[] = [];
	let row = table.header ? -1 : 0;
	await scanRows(table.file, table, ({ line }) => {
		if (++row === rows[lines.length]) lines.push(line);
		return lines.length === rows.length;
	});
	return lines;
}

/**
 * Turns an error of DuckDB about a delimited file into an InputError that names the line; returns any other error
 * unchanged.
 */
async function explainDelimited(table: DelimitedTable, error: unknown): Promise<unknown> {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const { message } = error;
	const say = (text: string) => new InputError(`${table.file}: ${text}`, { cause: error });
	if (/gzip stream/i.test(message)) return say("corrupt gzip; copy the file again");
	const line = /CSV Error on Line: (\d+)/.exec(message)?.[1];
	if (/Invalid unicode|not utf-8 encoded/i.test(message))
		return say(`line ${line ?? "?"} is not UTF-8; convert the file to UTF-8`);
	if (!line && !/CSV|No files found|IO Error/.test(message)) return error;
	let fault: string | undefined;
	try {
		fault = await faultOf(table);
	} catch (unreadable) {
		return explainBytes(table.file, unreadable);
	}
	if (fault) return say(fault);
	return say(
		`${line ? `line ${line} ` : ""}cannot be read as delimited text; check quotes, delimiters and line ends, and take out long runs of empty lines`,
	);
}

async function faultOf(table: DelimitedTable): Promise<string | undefined> {
	const expected = table.columns.length;
	let fault: string | undefined;
	await scanRows(table.file, table, (row) => {
		const where = `line ${row.line}`;
		if (row.length > longestRow) fault = tooLong(row.line);
		else if (row.fault && row.fault !== "line end") fault = `${where}: ${quoteFaults[row.fault]}`;
		else if (row.fields !== expected && !(row.fields === expected + 1 && row.openEnd))
			fault = `${where} has ${row.fields} ${row.fields === 1 ? "field" : "fields"}; expected ${expected}, as ${table.header ? "the first line has" : "there are columns"}`;
		else if (row.fault === "line end")
			fault = `${where} ends another way than the lines before it; expected the same line ends all through (dos2unix makes them so)`;
		return fault !== undefined;
	});
	return fault;
}

/**
 * The layout of the lines of a file. DuckDB's parallel reader silently drops rows next to many megabytes of empty
 * lines, or if the last row is longer than its buffers. A file whose samples are all even has neither.
 */
type Layout = "even" | "empty lines" | "long rows";

const sampleBytes = 2 ** 16;
const sampleEvery = 2 ** 20;

/** Samples of a file; a packed one is read whole, so that zlib checks lengths and checksums, which DuckDB does not. */
async function* samplesOf(file: string, packed: boolean): AsyncGenerator<Buffer> {
	if (packed) {
		for await (const bytes of readBytes(file))
			if (bytes.length >= sampleBytes)
				yield Buffer.from(bytes.buffer, bytes.byteOffset, sampleBytes);
		return;
	}
	const handle = await open(file, "r");
	try {
		const { size } = await handle.stat();
		const sample = Buffer.alloc(sampleBytes);
		for (let at = 0; at + sampleBytes <= size; at += sampleEvery) {
			const { bytesRead } = await handle.read(sample, 0, sampleBytes, at);
			yield sample.subarray(0, bytesRead);
		}
	} finally {
		await handle.close();
	}
}

async function layoutOf(file: string, packed: boolean): Promise<Layout> {
	let layout: Layout = "even";
	for await (const sample of samplesOf(file, packed)) {
		const hasRows = sample.includes(10) || sample.includes(13);
		if (!hasRows) layout = "long rows";
		else if (layout === "even" && ["\n\n", "\r\r", "\n\r"].some((empty) => sample.includes(empty)))
			layout = "empty lines";
		if (layout === "long rows" && !packed) break;
	}
	return layout;
}
