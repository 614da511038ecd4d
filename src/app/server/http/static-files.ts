import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { extname, join, relative, sep } from "node:path";
import { pipeline, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { type Coding, codingFor } from "./content-coding.js";

/** One form of a file: as it is, or compressed. */
interface Form {
	readonly bytes: number;
	readonly tag: string;
	open(): Readable;
}

/** A file that is served. */
export interface ServedFile extends Form {
	readonly type: string;
	/** Whether its name changes with its content, so that browsers may cache it forever. */
	readonly isForever: boolean;
	/** By content coding. */
	readonly compressed: Readonly<Partial<Record<Coding, Form>>>;
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
/** How the name of a compressed form ends. */
const endings: Readonly<Record<Coding, string>> = { br: ".br", gzip: ".gz" };
/** Names with a hash, as written by Vite: assets/index-B4x9_kQz.js. */
const hashed = /^assets\/.*-[\w-]{8}\.\w+$/;

/**
 * The files of a folder by URL path, listed once. Requests are looked up in this map and never become
 * a file path, so that nothing else can be read. `a.js.br` and `a.js.gz` are forms of `a.js`, unless they are older.
 */
export async function filesIn(
	folder: string,
	at: string,
): Promise<ReadonlyMap<string, ServedFile>> {
	const found = new Map<string, Form & { readonly mtimeMs: number }>();
	const names = await readdir(folder, { recursive: true, withFileTypes: true });
	for (const entry of names) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const { size, mtimeMs } = await stat(path);
		found.set(relative(folder, path).split(sep).join("/"), {
			bytes: size,
			tag: `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`,
			open: () => createReadStream(path),
			mtimeMs,
		});
	}
	const files = new Map<string, ServedFile>();
	for (const [name, form] of found) {
		const original = found.get(name.replace(/\.(?:br|gz)$/, ""));
		if (original && original !== form) continue;
		const compressed: Partial<Record<Coding, Form>> = {};
		for (const [coding, ending] of Object.entries(endings) as [Coding, string][]) {
			const other = found.get(name + ending);
			if (other && other.mtimeMs >= form.mtimeMs) compressed[coding] = other;
		}
		files.set(at + name, { ...form, type: typeOf(name), isForever: hashed.test(name), compressed });
	}
	return files;
}

/** A JSON document held in memory. */
export const document = (text: string): ServedFile => fileOf(types[".json"] as string, text);

/** A text held in memory, which is not cached by clients. */
export function fileOf(type: string, text: string): ServedFile {
	const bytes = new TextEncoder().encode(text);
	const formOf = (own: Uint8Array): Form => ({
		...{ bytes: own.length, tag: "" },
		open: () => Readable.from(piecesOf(own), { objectMode: false }),
	});
	return {
		...formOf(bytes),
		...{ type, isForever: false },
		compressed: { gzip: formOf(gzipSync(bytes)) },
	};
}

/** Pieces are small, so that the progress of a slow client is visible. */
function* piecesOf(bytes: Uint8Array, pieceBytes = 64 * 1024): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** The form of a file that a client accepts, with its headers. */
function chosenForm(
	file: ServedFile,
	accepted: string | undefined,
): { readonly form: Form; readonly headers: Record<string, string> } {
	const { type, isForever, compressed } = file;
	const coding = codingFor(accepted, Object.keys(compressed) as Coding[]);
	const form = (coding && compressed[coding]) ?? file;
	return {
		form,
		headers: {
			"Cache-Control": isForever
				? "public, max-age=31536000, immutable"
				: form.tag
					? "no-cache"
					: "no-store",
			...(form.tag && { ETag: form.tag }),
			...(Object.keys(compressed).length > 0 && { Vary: "Accept-Encoding" }),
			...(coding && { "Content-Encoding": coding }),
			"Content-Type": type,
			"Content-Length": String(form.bytes),
		},
	};
}

export const headersOf = (file: ServedFile, accepted?: string): Record<string, string> =>
	chosenForm(file, accepted).headers;

/** Streams a file. A client that hangs up is not an error. */
export function send(file: ServedFile, incoming: IncomingMessage, outgoing: ServerResponse): void {
	const { form, headers } = chosenForm(file, incoming.headers["accept-encoding"]);
	if (form.tag && isKnown(incoming.headers["if-none-match"], form.tag)) {
		const { "Content-Length": _, "Content-Type": __, "Content-Encoding": ___, ...rest } = headers;
		outgoing.writeHead(304, rest).end();
		return;
	}
	outgoing.writeHead(200, headers);
	pipeline(form.open(), outgoing, () => {});
}

const isKnown = (tags: string | undefined, tag: string): boolean =>
	(tags ?? "").split(",").some((own) => own.trim() === tag);
