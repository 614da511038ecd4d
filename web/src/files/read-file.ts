import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";

const fatal = (encoding: string, bytes: Uint8Array): string =>
	new TextDecoder(encoding, { fatal: true }).decode(bytes);

/** The text of a file, with a note if it is not in UTF-8. */
export function textOf(bytes: Uint8Array): { readonly text: string; readonly notes: string[] } {
	const [first, second] = bytes;
	if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
		try {
			const text = fatal(first === 0xff ? "utf-16le" : "utf-16be", bytes);
			return { text, notes: ["the file is in UTF-16, as Excel writes Unicode text"] };
		} catch (cause) {
			throw new InputError("the file is damaged UTF-16; save it as CSV (UTF-8)", { cause });
		}
	try {
		return { text: fatal("utf-8", bytes), notes: [] };
	} catch {
		const note =
			"the file is not in UTF-8: read as Windows-1252 (Latin-1); if names look wrong, save it as CSV (UTF-8)";
		return { text: new TextDecoder("windows-1252").decode(bytes), notes: [note] };
	}
}

/** How much of a file is enough to see its first lines. */
const headBytes = 64 * 1024;
/** Shorter content of a packed file comes in one chunk. */
const leastChunk = 16 * 1024;

/** The text at the beginning of a file, up to the end of a line. */
export async function headOf(file: Blob): Promise<string> {
	const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return textOfHead(bytes, file.size > headBytes);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	const { value } = await stream
		.getReader()
		.read()
		.catch(() => ({ value: undefined }));
	return value ? textOfHead(value, value.length >= leastChunk) : "";
}

/** A character that is cut off would make the text look like another encoding, so the last line is left out. */
function textOfHead(bytes: Uint8Array, isCut: boolean): string {
	refuseBinary(bytes);
	const isUtf16 = (bytes[0] ?? 0) + (bytes[1] ?? 0) === 0x1fd;
	const end = isUtf16 || !isCut ? 0 : bytes.lastIndexOf(0x0a) + 1;
	return textOf(end > 0 ? bytes.subarray(0, end) : bytes).text;
}

/** 20,000 patients with 100 records each are about 80 MB; the page holds the whole file in memory. */
const mostBytes = 128 * 2 ** 20;

const signatures: readonly (readonly [bytes: readonly number[], what: string])[] = [
	[[0x50, 0x4b, 0x03, 0x04], "a ZIP archive or an Excel workbook; unpack it, or save it as CSV"],
	[[0x25, 0x50, 0x44, 0x46], "a PDF; export the records as CSV or FHIR JSON"],
	[
		[0x50, 0x41, 0x52, 0x31],
		"a Parquet file; the page reads CSV and FHIR JSON, `trajgpt prepare` reads Parquet too",
	],
	[[0x89, 0x50, 0x4e, 0x47], "a picture; choose a file of records"],
	[[0xff, 0xd8, 0xff], "a picture; choose a file of records"],
	[[0x1f, 0x8b], "gzip inside of gzip; unpack it once"],
	[
		[0xd0, 0xcf, 0x11, 0xe0],
		"an old Excel workbook or Word document; save the table as CSV (UTF-8)",
	],
];

const megabytes = (bytes: number) => thousands(Math.round(bytes / 2 ** 20));

const tooLarge = (what: string) =>
	new InputError(
		`${what}; the page reads up to ${megabytes(mostBytes)} MB: leave only the patients you want to look at`,
	);

export function checkSize(bytes: number): void {
	if (bytes > mostBytes) throw tooLarge(`the file has ${megabytes(bytes)} MB`);
}

/** Stops at the limit, because a small file can unpack to more than fits in memory. */
async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	const reader = stream.getReader();
	const parts: Uint8Array[] = [];
	let length = 0;
	for (;;) {
		const { value, done } = await reader.read().catch((cause: unknown) => {
			throw new InputError("the file is gzip, but damaged or cut short; copy it again", { cause });
		});
		if (done) break;
		length += value.length;
		if (length > mostBytes) {
			await reader.cancel().catch(() => {});
			throw tooLarge(`the file is gzip and unpacks to more than ${megabytes(mostBytes)} MB`);
		}
		parts.push(value);
	}
	const all = new Uint8Array(length);
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/** The bytes of a file, unpacked if it is gzip; refused if they are not text. */
export async function bytesOf(content: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
	if (content.length === 0)
		throw new InputError("the file is empty; expected a CSV table or a FHIR R4 Bundle");
	checkSize(content.length);
	const bytes = content[0] === 0x1f && content[1] === 0x8b ? await unpacked(content) : content;
	refuseBinary(bytes);
	return bytes;
}

function refuseBinary(bytes: Uint8Array): void {
	const binary = signatures.find(([start]) => start.every((byte, at) => bytes[at] === byte));
	if (binary) throw new InputError(`the file is ${binary[1]}`);
}
