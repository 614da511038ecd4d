import { createReadStream, type Stats } from "node:fs";
import { open, stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { InputError } from "../../base/errors.js";

/**
 * Refuses a pipe, device or socket before it is opened: files are read more than once, and opening a pipe that nobody
 * writes to never ends.
 */
export function refusePipe(file: string, stats: Stats): void {
	if (!stats.isFile() && !stats.isDirectory())
		throw new InputError(
			`${file} is ${stats.isFIFO() ? "a pipe" : "a device or a socket"}; expected a file, which can be read more than once: write the data to a file first`,
		);
}

/** Reads the first bytes of a file, without unpacking. */
export async function firstBytes(file: string, count: number): Promise<Buffer> {
	refusePipe(file, await stat(file));
	const handle = await open(file, "r");
	try {
		const { bytesRead, buffer } = await handle.read(Buffer.alloc(count), 0, count, 0);
		return buffer.subarray(0, bytesRead);
	} finally {
		await handle.close();
	}
}

export const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

/** Reads the bytes of a file, unpacked if its content is gzip. */
export async function* readBytes(file: string): AsyncGenerator<Uint8Array> {
	const packed = isGzip(await firstBytes(file, 2));
	const raw = createReadStream(file, { highWaterMark: 1 << 20 });
	const unpacked = packed ? raw.pipe(createGunzip({ chunkSize: 1 << 20 })) : raw;
	if (packed) raw.on("error", (error) => unpacked.destroy(error));
	try {
		yield* unpacked as AsyncIterable<Uint8Array>;
	} finally {
		raw.destroy();
		unpacked.destroy();
	}
}

/** Explains an error of reading a file; returns any other error unchanged. */
export function explainBytes(file: string, error: unknown): unknown {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const code = (error as NodeJS.ErrnoException).code ?? "";
	const say = (text: string) => new InputError(`${file}: ${text}`, { cause: error });
	if (code === "ENOENT" || code === "ENOTDIR") return say("no such file; check the path");
	if (code === "EISDIR") return new InputError(`${file} is a folder; expected a file`);
	if (code === "ELOOP") return say("a link that leads back to itself; check the path");
	if (code === "EACCES") return say("permission denied; check who may read it");
	if (code === "ENAMETOOLONG") return say("no file can have so long a name; check the path");
	if (code === "ERR_INVALID_ARG_VALUE") return say("not a path; check it");
	if (code === "Z_BUF_ERROR") return say("the gzip data end early; copy the file again");
	if (code.startsWith("Z_")) return say(`corrupt gzip (${error.message}); copy the file again`);
	return error;
}

interface Line {
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

/** What a file holds, as far as its beginning tells. */
export type FileKind = "parquet" | "fhir" | "events" | "json" | "text table";

/** How much of a file is looked at. */
const beginning = 1 << 16;

/** The kind of a file, gzipped or not; undefined if the file cannot be read or its kind is unknown. */
export async function fileKind(file: string): Promise<FileKind | undefined> {
	try {
		if (!(await stat(file)).isFile()) return undefined;
		if ((await firstBytes(file, 4)).toString("latin1") === "PAR1") return "parquet";
		return textKind(await textAt(file));
	} catch {
		return undefined; // whoever reads it says why
	}
}

async function textAt(file: string): Promise<string> {
	for await (const bytes of readBytes(file))
		return new TextDecoder().decode(bytes.subarray(0, beginning));
	return "";
}

function textKind(text: string): FileKind | undefined {
	const content = text.trimStart();
	if (/^(\{\s*("|\}|$)|\[\s*(\{|\[|"|-?\d|\]))/.test(content)) {
		if (/"resourceType"\s*:/.test(content)) return "fhir";
		return /"types"\s*:\s*\[/.test(content) && /"times"\s*:/.test(content) ? "events" : "json";
	}
	const [first = ""] = content.split("\n");
	return /[,;\t|]/.test(first) && !/[\0<]/.test(first) ? "text table" : undefined;
}
