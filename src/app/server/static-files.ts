import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pipeline, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { getMimeType, mimes } from "hono/utils/mime";
import type { RequestContext } from "./access.js";

/** How names of compressed forms end, by content coding, the smallest form first. */
const endings = { br: ".br", gzip: ".gz" } as const;
type Coding = keyof typeof endings;
const codings: readonly Coding[] = ["br", "gzip"];

/** One form of a file: as it is, or compressed. */
interface Form {
	readonly bytes: number;
	readonly tag: string;
	open(): Readable;
}

export interface ServedFile extends Form {
	readonly type: string;
	/** Whether its name changes with its content, so that browsers may cache it forever. */
	readonly isForever: boolean;
	/** By content coding. */
	readonly compressed: Readonly<Partial<Record<Coding, Form>>>;
}

const types = {
	...mimes,
	json: "application/json; charset=utf-8",
	map: "application/json; charset=utf-8",
	md: "text/markdown; charset=utf-8",
	py: "text/plain; charset=utf-8",
};
/** Names with a hash, as written by Vite: assets/index-B4x9_kQz.js. */
const hashed = /^assets\/.*-[\w-]{8}\.\w+$/;

/**
 * The files of a folder by URL path, listed once. Requests are looked up in this map and never become
 * a file path, so that nothing else can be read. `a.js.br` and `a.js.gz` are forms of `a.js`, unless they are older.
 */
export async function filesIn(
	folder: string,
	urlFolder: string,
): Promise<ReadonlyMap<string, ServedFile>> {
	const forms = new Map<string, Form & { readonly mtimeMs: number }>();
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile()) continue;
		const path = join(entry.parentPath, entry.name);
		const { size, mtimeMs } = await stat(path);
		forms.set(relative(folder, path).split(sep).join("/"), {
			bytes: size,
			tag: `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`,
			open: () => createReadStream(path),
			mtimeMs,
		});
	}
	const files = new Map<string, ServedFile>();
	for (const [name, form] of forms) {
		const original = forms.get(name.replace(/\.(?:br|gz)$/, ""));
		if (original && original !== form) continue;
		const compressed: Partial<Record<Coding, Form>> = {};
		for (const coding of codings) {
			const other = forms.get(name + endings[coding]);
			if (other && other.mtimeMs >= form.mtimeMs) compressed[coding] = other;
		}
		files.set(urlFolder + name, {
			...form,
			type: getMimeType(name, types) ?? "application/octet-stream",
			isForever: hashed.test(name),
			compressed,
		});
	}
	return files;
}

export const document = (text: string): ServedFile => fileOf(types.json, text);

/** A text held in memory, which is not cached by clients. */
export function fileOf(type: string, text: string): ServedFile {
	const formOf = (bytes: Uint8Array): Form => ({
		bytes: bytes.length,
		tag: "",
		open: () => Readable.from(piecesOf(bytes), { objectMode: false }),
	});
	const bytes = new TextEncoder().encode(text);
	return {
		...formOf(bytes),
		type,
		isForever: false,
		compressed: { gzip: formOf(gzipSync(bytes)) },
	};
}

/** Pieces are small, so that the progress of a slow client is visible. */
function* piecesOf(bytes: Uint8Array, pieceBytes = 64 * 1024): Generator<Uint8Array> {
	for (let from = 0; from < bytes.length; from += pieceBytes)
		yield bytes.subarray(from, from + pieceBytes);
}

/** The best of the available codings that an Accept-Encoding header names, other than with weight 0. */
export function codingFor(
	header: string | undefined,
	available: readonly Coding[],
): Coding | undefined {
	const accepted = new Set<string>();
	for (const part of (header ?? "").split(",", 32)) {
		const [name = "", weight = "q=1"] = part.split(";").map((text) => text.trim().toLowerCase());
		if (Number(weight.replace("q=", "")) > 0) accepted.add(name);
	}
	return codings.find((coding) => available.includes(coding) && accepted.has(coding));
}

/** Streams a file in the form that the client accepts. A client that hangs up is not an error. */
export function send(context: RequestContext, file: ServedFile): Response {
	const { req, env } = context;
	const { type, isForever, compressed } = file;
	const available = codings.filter((coding) => compressed[coding]);
	const coding = codingFor(req.header("Accept-Encoding"), available);
	const form = (coding && compressed[coding]) ?? file;
	const caching = {
		"Cache-Control": isForever
			? "public, max-age=31536000, immutable"
			: form.tag
				? "no-cache"
				: "no-store",
		...(form.tag && { ETag: form.tag }),
		...(available.length > 0 && { Vary: "Accept-Encoding" }),
	};
	const known = (req.header("If-None-Match") ?? "").split(",").map((tag) => tag.trim());
	if (form.tag && known.includes(form.tag)) return context.body(null, 304, caching);
	const headers = {
		...caching,
		...(coding && { "Content-Encoding": coding }),
		"Content-Type": type,
		"Content-Length": String(form.bytes),
	};
	// Hono answers HEAD requests itself.
	if (req.method === "HEAD") return context.body(null, 200, headers);
	env.outgoing.writeHead(200, headers);
	pipeline(form.open(), env.outgoing, () => {});
	return RESPONSE_ALREADY_SENT;
}
