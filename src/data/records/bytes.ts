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
