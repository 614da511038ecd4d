import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { InputError } from "../base/errors.js";

export interface Line {
	/** From 1. */
	readonly number: number;
	readonly text: string;
}

const longestLine = 64 * 1024 * 1024; // characters: far above any real history, far below memory

async function startsWithGzip(file: string): Promise<boolean> {
	const handle = await open(file, "r");
	try {
		const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
		return bytesRead === 2 && buffer[0] === 0x1f && buffer[1] === 0x8b;
	} finally {
		await handle.close();
	}
}

/** Bytes of a file, unpacked when it is gzip (told by its content, not by its name). */
async function* readBytes(file: string): AsyncGenerator<Uint8Array> {
	const packed = await startsWithGzip(file);
	const raw = createReadStream(file, { highWaterMark: 1 << 20 });
	const unpacked = packed ? raw.pipe(createGunzip()) : raw;
	if (packed) raw.on("error", (error) => unpacked.destroy(error));
	try {
		yield* unpacked as AsyncIterable<Uint8Array>;
	} finally {
		raw.destroy();
		unpacked.destroy();
	}
}

function explain(file: string, line: number, error: unknown): unknown {
	if (error instanceof InputError || !(error instanceof Error)) return error;
	const code = (error as NodeJS.ErrnoException).code ?? "";
	const say = (text: string) => new InputError(text, { cause: error });
	if (code === "ENOENT") return say(`${file}: no such file; check the path`);
	if (code === "EISDIR") return say(`${file} is a folder; expected a file`);
	if (code === "EACCES") return say(`${file}: permission denied; check who may read it`);
	if (code === "Z_BUF_ERROR")
		return say(`${file}: the gzip data end early, after line ${line}; copy the file again`);
	if (code.startsWith("Z_"))
		return say(`${file}: corrupt gzip after line ${line} (${error.message}); copy the file again`);
	if (code === "ERR_ENCODING_INVALID_ENCODED_DATA")
		return say(`${file}: not UTF-8 after line ${line}; convert the file to UTF-8`);
	return error;
}

/**
 * Streams the lines of a text file, .gz too. A byte order mark and Windows line ends are taken off.
 * Memory stays within one line, and no line may be longer than `limit` characters.
 */
export async function* readLines(file: string, limit = longestLine): AsyncGenerator<Line> {
	const decoder = new TextDecoder("utf-8", { fatal: true }); // takes the byte order mark off
	let number = 0;
	let parts: string[] = []; // the line under way, joined once
	let partsLength = 0;
	const line = (text: string): Line => ({
		number: ++number,
		text: text.endsWith("\r") ? text.slice(0, -1) : text,
	});
	const check = (length: number) => {
		if (length > limit)
			throw new InputError(
				`${file}: line ${number + 1} is longer than ${limit} characters; expected one record a line`,
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
