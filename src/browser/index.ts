import { InputError } from "../base/errors.js";
import { type WorkerCall, type WorkerReply, workerCalls } from "../base/worker-calls.js";
import { checkBrowser, type WebDevice } from "../runtime/web.js";
import { callsThrough, type Opened, type OpenRequest } from "./calls.js";
import { type BrowserModel, modelOver } from "./model.js";
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
	postMessage(call: WorkerCall): void;
	terminate(): void;
	onmessage: ((event: { readonly data: WorkerReply<string> }) => void) | null;
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
	const { call, receive, end } = workerCalls(
		(call) => worker.postMessage(call),
		(message: string) => new Error(message),
	);
	const close = (reason: string) => {
		worker.terminate();
		end(() => new Error(reason));
	};
	worker.onmessage = ({ data }) => receive(data);
	worker.onerror = ({ message }) =>
		close(
			`the worker of trajgpt failed: ${message || `${at}trajgpt-worker.js cannot be loaded; put the library's files in one folder`}`,
		);

	try {
		const files = new URL("ort/", at).href;
		const request: OpenRequest = { source: sourceOf(source, base), device, threads, files };
		const opened = (await call("open", [request])) as Opened;
		return modelOver(opened, callsThrough(call), () => close("this model was closed"));
	} catch (error) {
		close("this model was not opened");
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
