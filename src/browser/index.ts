import { InputError } from "../base/errors.js";
import { checkBrowser, type WebDevice } from "../runtime/web.js";
import type { Opened } from "./calls.js";
import { errorOf, type OpenRequest, type Reply, type Request } from "./messages.js";
import { type BrowserModel, modelOver, type Send } from "./model.js";
import type { PageFile, Source } from "./source.js";

export { InputError } from "../base/errors.js";
export type { ExportManifest } from "../export/manifest.js";
export type {
	Attribution,
	Edit,
	PlacedAnswers,
	RiskTrajectory,
	WhatIf,
} from "../infer/index.js";
export type { Answers, Events, State } from "../models/index.js";
export type { BrowserModel, Code, LikelyCode } from "./model.js";
export type { Moment, Person } from "./person.js";
export type { PageFile } from "./source.js";

export interface OpenOptions {
	/** WebAssembly if left out. */
	readonly device?: WebDevice;
	/** Of WebAssembly, on pages that are isolated from other origins; elsewhere there is one. */
	readonly threads?: number;
	/** Where the library's other files are, if they were moved: a URL that ends in a slash. */
	readonly library?: string | URL;
}

interface PageWorker {
	postMessage(request: Request): void;
	terminate(): void;
	onmessage: ((event: { readonly data: Reply }) => void) | null;
	onerror: ((event: { readonly message?: string }) => void) | null;
}

interface Page {
	readonly Worker: new (url: URL, options: { readonly type: "module" }) => PageWorker;
	readonly document?: { readonly baseURI: string };
	readonly location?: { readonly href: string };
}

// Bundlers would take new URL("./", import.meta.url) for a file of theirs.
const ownUrl = import.meta.url;
const ownFolder = ownUrl.slice(0, ownUrl.lastIndexOf("/") + 1);

/** Opens an export by the URL of its folder, or by its files, in a worker of its own. */
export async function openModel(
	source: string | URL | Iterable<PageFile>,
	{ device, threads, library = ownFolder }: OpenOptions = {},
): Promise<BrowserModel> {
	await checkBrowser(device);
	const page = globalThis as unknown as Page;
	const base = page.document?.baseURI ?? page.location?.href;
	const at = new URL(library, base);
	const worker = new page.Worker(new URL("trajgpt-worker.js", at), { type: "module" });
	const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
	let [requests, ended] = [0, ""];

	const end = (reason: string) => {
		ended = reason;
		worker.terminate();
		for (const { reject } of waiting.values()) reject(new Error(reason));
		waiting.clear();
	};
	const post = (request: { open: OpenRequest } | { call: never; values: readonly unknown[] }) =>
		new Promise<unknown>((resolve, reject) => {
			if (ended) return reject(new Error(ended));
			const id = requests++;
			waiting.set(id, { resolve, reject });
			worker.postMessage({ id, ...request });
		});
	worker.onmessage = ({ data }) => {
		const { resolve, reject } = waiting.get(data.id) ?? {};
		waiting.delete(data.id);
		if ("failed" in data) reject?.(errorOf(data.failed));
		else resolve?.(data.value);
	};
	worker.onerror = ({ message }) =>
		end(
			`the worker of trajgpt failed: ${message || `${at}trajgpt-worker.js cannot be loaded; put the library's files in one folder`}`,
		);

	const send = ((call: never, ...values: readonly unknown[]) => post({ call, values })) as Send;
	try {
		const files = new URL("ort/", at).href;
		const opened = await post({ open: { source: sourceOf(source, base), device, threads, files } });
		return modelOver(opened as Opened, send, () => end("this model was closed"));
	} catch (error) {
		end("this model was not opened");
		throw error;
	}
}

function sourceOf(source: string | URL | Iterable<PageFile>, base: string | undefined): Source {
	if (typeof source !== "string" && !(source instanceof URL)) return [...source];
	try {
		return new URL(source, base).href;
	} catch (cause) {
		throw new InputError(`"${source}" is no URL; give that of the export's folder, or its files`, {
			cause,
		});
	}
}
