import { readExport } from "../export/read-export.js";
import { webRuntime } from "../runtime/web.js";
import { type Running, running } from "./calls.js";
import { failureOf, type OpenRequest, type Reply, type Request } from "./messages.js";
import { nameOf, readerOf } from "./source.js";

interface WorkerScope {
	postMessage(reply: Reply): void;
	onmessage: ((event: { readonly data: Request }) => void) | null;
}

const scope = globalThis as unknown as WorkerScope;

let model: Running | undefined;

async function open({ source, device, threads, files }: OpenRequest) {
	const exported = await readExport(nameOf(source), readerOf(source));
	for (const warning of exported.warnings) console.warn(warning);
	const runtime = await webRuntime({
		files,
		...(device && { device }),
		...(threads !== undefined && { threads }),
	});
	model = running(runtime, device ?? "wasm", exported);
	return model.opened;
}

async function answer(request: Request): Promise<Reply> {
	const { id } = request;
	try {
		if ("open" in request) return { id, value: await open(request.open) };
		const call = model?.calls[request.call] as (...values: readonly unknown[]) => Promise<unknown>;
		return { id, value: await call(...request.values) };
	} catch (error) {
		return { id, failed: failureOf(error) };
	}
}

// One after the other: the engine runs one session at a time.
let last: Promise<void> = Promise.resolve();
scope.onmessage = ({ data }) => {
	last = last.then(async () => scope.postMessage(await answer(data)));
};
