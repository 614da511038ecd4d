import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { pipeline, Readable } from "node:stream";

/** A file that is served. */
export interface ServedFile {
	readonly type: string;
	readonly bytes: number;
	readonly tag: string;
	/** Whether its name changes with its content, so that browsers may cache it forever. */
	readonly isForever: boolean;
	open(): Readable;
}

const types: Readonly<Record<string, string>> = {
	".css": "text/css; charset=utf-8",
	".csv": "text/csv; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".ico": "image/x-icon",
	".js": "text/javascript; charset=utf-8",
	".json": "application/json; charset=utf-8",
	".map": "application/json; charset=utf-8",
	".md": "text/markdown; charset=utf-8",
	".mjs": "text/javascript; charset=utf-8",
	".png": "image/png",
	".py": "text/plain; charset=utf-8",
	".svg": "image/svg+xml; charset=utf-8",
	".txt": "text/plain; charset=utf-8",
	".wasm": "application/wasm",
	".webmanifest": "application/manifest+json",
	".woff2": "font/woff2",
};

const typeOf = (name: string) => types[extname(name).toLowerCase()] ?? "application/octet-stream";
/** Names with a hash, as written by Vite: assets/index-B4x9_kQz.js. */
const hashed = /^assets\/.*-[\w-]{8}\.\w+$/;

/**
 * The files of a folder by URL path, listed once. Requests are looked up in this map and never become
 * a file path, so that nothing else can be read.
 */
export async function filesIn(
	folder: string,
	at: string,
): Promise<ReadonlyMap<string, ServedFile>> {
	const files = new Map<string, ServedFile>();
	const names = await readdir(folder, { recursive: true, withFileTypes: true });
	for (const entry of names) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const { size, mtimeMs } = await stat(path);
		const name = relative(folder, path).split(sep).join("/");
		files.set(at + name, {
			type: typeOf(name),
			bytes: size,
			tag: `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`,
			isForever: hashed.test(name),
			open: () => createReadStream(path),
		});
	}
	return files;
}

/** A JSON document held in memory. */
export function document(text: string): ServedFile {
	const bytes = new TextEncoder().encode(text);
	return {
		type: types[".json"] as string,
		bytes: bytes.length,
		tag: "",
		isForever: false,
		open: () => Readable.from(piecesOf(bytes), { objectMode: false }),
	};
}

/** Pieces are small, so that the progress of a slow client is visible. */
function* piecesOf(bytes: Uint8Array, pieceBytes = 64 * 1024): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

export const headersOf = ({ tag, type, bytes, isForever }: ServedFile): Record<string, string> => ({
	"Cache-Control": isForever
		? "public, max-age=31536000, immutable"
		: tag
			? "no-cache"
			: "no-store",
	...(tag && { ETag: tag }),
	"Content-Type": type,
	"Content-Length": String(bytes),
});

/** Streams a file. A client that hangs up is not an error. */
export function send(file: ServedFile, incoming: IncomingMessage, outgoing: ServerResponse): void {
	if (file.tag && incoming.headers["if-none-match"] === file.tag) {
		const { "Content-Length": _, "Content-Type": __, ...headers } = headersOf(file);
		outgoing.writeHead(304, headers).end();
		return;
	}
	outgoing.writeHead(200, headersOf(file));
	pipeline(file.open(), outgoing, () => {});
}
