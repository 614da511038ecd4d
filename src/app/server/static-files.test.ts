import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { type IncomingHttpHeaders, request } from "node:http";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { compressFiles } from "../../../scripts/compress.mjs";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { codingFor, document, filesIn } from "./static-files.js";
import { running } from "./testing/running.js";

interface Received {
	readonly status: number;
	readonly headers: IncomingHttpHeaders;
	/** As sent; `fetch` would decompress them. */
	readonly bytes: Buffer;
}

const ask = (url: string, headers: Record<string, string>, method = "GET"): Promise<Received> =>
	new Promise((resolve, reject) => {
		request(url, { method, headers, agent: false }, (response) => {
			const chunks: Buffer[] = [];
			response.on("data", (chunk: Buffer) => chunks.push(chunk));
			response.on("end", () =>
				resolve({
					...{ status: response.statusCode ?? 0, headers: response.headers },
					bytes: Buffer.concat(chunks),
				}),
			);
		})
			.on("error", reject)
			.end();
	});

const script = "export const answer = 42;\n".repeat(4000);
const wasm = Buffer.alloc(3 * 2 ** 20, "\0asm module");

async function servedPage() {
	const folder = await temporaryFolder();
	await mkdir(join(folder, "assets"));
	const names = ["assets/index-B4x9_kQz.js", "engine.wasm", "engine.asyncify.wasm", "weights.bin"];
	const paths = names.map((name) => join(folder, name));
	for (const path of paths) await writeFile(path, path.endsWith("js") ? script : wasm);
	await compressFiles(paths);
	return { folder, ...(await running({ files: await filesIn(folder, "/") })) };
}

test("scripts and WebAssembly are sent compressed, in the coding that the client accepts", async () => {
	const { folder, url } = await servedPage();
	for (const [name, type, content] of [
		["assets/index-B4x9_kQz.js", "text/javascript; charset=utf-8", Buffer.from(script)],
		["engine.wasm", "application/wasm", wasm],
	] as const) {
		const plain = await ask(`${url}/${name}`, {});
		expect(plain.headers["content-encoding"]).toBeUndefined();
		expect(plain.bytes.equals(content)).toBe(true);
		const tags = [plain.headers.etag];
		for (const [accepted, coding, ending, decode] of [
			["gzip, deflate, br, zstd", "br", ".br", brotliDecompressSync],
			["gzip, deflate", "gzip", ".gz", gunzipSync],
		] as const) {
			const sent = await ask(`${url}/${name}`, { "Accept-Encoding": accepted });
			expect(sent.headers).toMatchObject({
				...{ "content-encoding": coding, "content-type": type, vary: "Accept-Encoding" },
				"content-length": String(sent.bytes.length),
			});
			expect(sent.bytes.equals(await readFile(join(folder, name + ending)))).toBe(true);
			expect(decode(sent.bytes).equals(content)).toBe(true);
			expect(sent.bytes.length).toBeLessThan(content.length / 20);
			tags.push(sent.headers.etag);
			const again = await ask(`${url}/${name}`, {
				"Accept-Encoding": accepted,
				"If-None-Match": `"other", ${sent.headers.etag}`,
			});
			expect([again.status, again.bytes.length, again.headers.vary]).toEqual([
				...[304, 0, "Accept-Encoding"],
			]);
			const head = await ask(`${url}/${name}`, { "Accept-Encoding": accepted }, "HEAD");
			expect(head.headers).toMatchObject({
				...{ "content-encoding": coding, "content-length": String(sent.bytes.length) },
				etag: sent.headers.etag,
			});
		}
		// A cache that holds one form must not be told that it holds another.
		expect(new Set(tags).size).toBe(3);
	}
});

test("a file without a compressed form is sent as it is", async () => {
	const { url } = await servedPage();
	for (const name of ["engine.asyncify.wasm", "weights.bin"]) {
		const { headers, bytes } = await ask(`${url}/${name}`, { "Accept-Encoding": "br" });
		expect(headers["content-encoding"]).toBeUndefined();
		expect(headers.vary).toBeUndefined();
		expect(bytes.equals(wasm)).toBe(true);
	}
});

test("compressed forms have no address, and old ones are not sent", async () => {
	const { folder, url } = await servedPage();
	expect((await ask(`${url}/engine.wasm.br`, {})).status).toBe(404);
	await utimes(join(folder, "engine.wasm.br"), 1, 1);
	const files = await filesIn(folder, "/");
	expect(Object.keys(files.get("/engine.wasm")?.compressed ?? {})).toEqual(["gzip"]);
	await writeFile(join(folder, "alone.gz"), "no original");
	expect((await filesIn(folder, "/")).get("/alone.gz")?.bytes).toBe(11);
});

test("documents are sent compressed, and never cached", async () => {
	const text = JSON.stringify({ rows: Array(500).fill("a row") });
	const { url } = await running({ files: new Map([["/explorer/a.json", document(text)]]) });
	const { headers, bytes } = await ask(`${url}/explorer/a.json`, { "Accept-Encoding": "br, gzip" });
	expect(headers).toMatchObject({ "content-encoding": "gzip", "cache-control": "no-store" });
	expect(gunzipSync(bytes).toString()).toBe(text);
});

test.each([
	["gzip, br", "br"],
	["gzip;q=1, br;q=0", "gzip"],
	["BR ; Q=0.5", "br"],
	["*", undefined],
	["*;q=0, gzip", "gzip"],
	["identity", undefined],
	["gzip;q=nonsense", undefined],
	["", undefined],
	[undefined, undefined],
	["brotli, x-gzip", undefined],
	["a,".repeat(50_000), undefined],
])("Accept-Encoding %#", (header, coding) => {
	expect(codingFor(header, ["br", "gzip"])).toBe(coding);
	expect(codingFor(header, [])).toBeUndefined();
});
