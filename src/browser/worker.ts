import { answerCalls, type WorkerCall, type WorkerReply } from "../base/worker-calls.js";
import { readExport } from "../export/read-export.js";
import { webRuntime } from "../runtime/web.js";
import { type OpenRequest, running } from "./calls.js";
import { nameOf, readerOf } from "./source.js";

interface WorkerScope {
	postMessage(reply: WorkerReply<string>): void;
	onmessage: ((event: { readonly data: WorkerCall }) => void) | null;
}

const scope = globalThis as unknown as WorkerScope;

const methods = {
	/** Comes first: the model's own calls are known once it is open. */
	async open({ source, device, threads, files }: OpenRequest) {
		const exported = await readExport(nameOf(source), readerOf(source));
		for (const warning of exported.warnings) console.warn(warning);
		const runtime = await webRuntime({
			files,
			...(device && { device }),
			...(threads !== undefined && { threads }),
		});
		const { opened, calls } = running(runtime, device ?? "wasm", exported);
		Object.assign(methods, calls);
		return opened;
	},
};

const answer = answerCalls(
	methods,
	(reply: WorkerReply<string>) => scope.postMessage(reply),
	(error) => (error instanceof Error ? error.message : String(error)),
);
scope.onmessage = ({ data }) => answer(data);
