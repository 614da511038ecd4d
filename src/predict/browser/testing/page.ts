import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";

const program = "/usr/bin/chromium";
export const chromiumIsThere = existsSync(program);

export const builtLibrary = fileURLToPath(new URL("../../../../dist/browser/", import.meta.url));

const types: Readonly<Record<string, string>> = {
	".html": "text/html; charset=utf-8",
	".js": "text/javascript",
	".mjs": "text/javascript",
	".json": "application/json",
	".wasm": "application/wasm",
};

/**
 * Serves a folder on the loopback interface; `isolated` lets its pages share memory between threads. `requested` has
 * the paths that were asked for.
 */
export async function serveFolder(folder: string, { isolated }: { readonly isolated: boolean }) {
	const requested: string[] = [];
	const server = createServer(async (request, response) => {
		const { pathname } = new URL(request.url ?? "/", "http://localhost");
		requested.push(pathname);
		const content = await readFile(join(folder, normalize(pathname))).catch(() => undefined);
		response.writeHead(content ? 200 : 404, {
			"content-type": types[extname(pathname)] ?? "application/octet-stream",
			...(isolated && {
				"cross-origin-opener-policy": "same-origin",
				"cross-origin-embedder-policy": "require-corp",
			}),
		});
		response.end(content);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return {
		url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
		requested,
		close: () => new Promise((resolve) => server.close(resolve)),
	};
}

/** The software GPU that every Chromium includes. */
const softwareGpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];
/** Without this, pages would be drawn by the software GPU, which is slower. */
const noGpu = ["--disable-gpu"];
/** Optimizing the engine's WebAssembly takes longer than the few predictions of a test. */
const quickStart = "--js-flags=--liftoff-only";

export const openBrowser = ({ webgpu = false, optimizes = false } = {}): Promise<Browser> =>
	chromium.launch({
		executablePath: program,
		args: [
			...["--no-sandbox", ...(webgpu ? softwareGpu : noGpu)],
			...(optimizes ? [] : [quickStart]),
		],
	});

/** A page that collects its errors, and its requests to other origins. */
export async function watchedPage(browser: Pick<Browser, "newPage">, origin: string) {
	const page: Page = await browser.newPage();
	const faults: string[] = [];
	page.on("console", (message) => {
		if (message.type() === "error") faults.push(message.text());
	});
	page.on("pageerror", (error) => faults.push(error.message));
	page.on("request", (request) => {
		const url = request.url();
		if (!url.startsWith(origin) && !/^(data|blob):/.test(url)) faults.push(`requested ${url}`);
	});
	return { page, faults };
}
