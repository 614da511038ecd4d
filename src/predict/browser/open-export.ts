import { InputError } from "../../base/errors.js";
import {
	type CallByName,
	callsByName,
	type WorkerCall,
	type WorkerReply,
	workerCalls,
} from "../../base/worker-calls.js";
import { checkBrowser, type WebDevice } from "../../engine/runtime/web-device.js";
import type { Calls } from "../calls.js";
import type { OpenedExport, PageFile, Source } from "../export/read-export.js";
import type { OpenRequest } from "./worker.js";

export interface OpenOptions {
	/** WebAssembly if left out. */
	readonly device?: WebDevice;
	/** WebAssembly threads, on cross-origin isolated pages; other pages have one. */
	readonly threads?: number;
	/** The folder of the library's other files, if they were moved: a URL that ends in a slash. */
	readonly library?: string | URL;
}

/** An export that runs in a worker: what it is, its calls, and what ends it. */
export type RunningExport = Awaited<ReturnType<typeof openExport>>;

interface PageWorker {
	postMessage(call: WorkerCall): void;
	terminate(): void;
	onmessage: ((event: { readonly data: WorkerReply<string> }) => void) | null;
	onerror: ((event: { readonly message?: string }) => void) | null;
}

interface Page {
	readonly Worker: new (
		url: URL,
		options: { readonly type: "module"; readonly name: WebDevice },
	) => PageWorker;
	readonly document?: { readonly baseURI: string };
	readonly location?: { readonly href: string };
}

// Bundlers would treat new URL("./", import.meta.url) as an asset.
const ownUrl = import.meta.url;
const ownFolder = ownUrl.slice(0, ownUrl.lastIndexOf("/") + 1);

/** Opens an export, given the URL of its folder or its files, in a new worker. */
export async function openExport(
	source: string | URL | Iterable<PageFile>,
	{ device, threads, library = ownFolder }: OpenOptions = {},
) {
	await checkBrowser(device);
	const page = globalThis as unknown as Page;
	const base = page.document?.baseURI ?? page.location?.href;
	const at = new URL(library, base);
	const worker = new page.Worker(new URL("trajgpt-worker.js", at), {
		type: "module",
		name: device ?? "wasm",
	});
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
		const opened = (await call("open", [request])) as OpenedExport;
		return {
			opened,
			calls: callsThrough(call),
			close: async () => close("this model was closed"),
		};
	} catch (error) {
		close("the model could not be loaded");
		throw error;
	}
}

const callNames = [
	"start",
	"select",
	"observe",
	"query",
	"advance",
	"queryWithin",
	"predict",
	"codeProbabilities",
	"attributeCodeProbability",
	"incidence",
	"incidenceTrajectories",
	"attributeIncidence",
	"futures",
	"drawFutures",
	"represent",
	"scoreTask",
] as const;

/** The calls of a model that runs elsewhere, made by name through `call`. */
export const callsThrough = (call: CallByName): Calls =>
	callsByName<Calls, (typeof callNames)[number]>(callNames, call);

function sourceOf(source: string | URL | Iterable<PageFile>, base: string | undefined): Source {
	if (typeof source !== "string" && !(source instanceof URL)) return [...source];
	try {
		return new URL(source, base).href;
	} catch (cause) {
		throw new InputError(
			`"${source}" is not a URL; give the URL of the export's folder, or its files`,
			{ cause },
		);
	}
}
