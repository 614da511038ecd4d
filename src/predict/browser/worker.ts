// First, so that the engine loads while the rest of this script is evaluated.
import "./engine-bytes.js";

import { InputError } from "../../base/errors.js";
import { answerCalls, type WorkerCall, type WorkerReply } from "../../base/worker-calls.js";
import { webRuntime } from "../../engine/runtime/web.js";
import type { WebDevice } from "../../engine/runtime/web-device.js";
import type { Calls } from "../calls.js";
import { callsOf } from "../calls.js";
import {
	openedExport,
	readExport,
	readerOf,
	type Source,
	sourceLabel,
} from "../export/read-export.js";
import { engineBytes } from "./engine-bytes.js";

export interface OpenRequest {
	readonly source: Source;
	readonly device: WebDevice | undefined;
	readonly threads: number | undefined;
	readonly files: string;
}

interface WorkerScope {
	postMessage(reply: WorkerReply<string>): void;
	onmessage: ((event: { readonly data: WorkerCall }) => void) | null;
}

const scope = globalThis as unknown as WorkerScope;

const methods = {
	/** Must be the first call: it adds the model's calls to the methods. */
	async open({ source, device, threads, files }: OpenRequest) {
		// The engine starts while the files are read.
		const starting = webRuntime({
			files,
			wasm: engineBytes,
			...(device && { device }),
			...(threads !== undefined && { threads }),
		});
		starting.catch(() => {}); // reported below
		const exported = await readExport(sourceLabel(source), readerOf(source));
		for (const warning of exported.warnings) console.warn(warning);
		const runtime = await starting;
		const { calls } = callsOf(runtime, exported);
		Object.assign(methods, calls, device === "webgpu" && needingFloat64);
		return openedExport(exported, runtime);
	},
};

const refuse = (what: string) => async (): Promise<never> => {
	throw new InputError(
		`${what} need float64 times, which WebGPU lacks; load the model without device: "webgpu"`,
	);
};

/** Calls that WebGPU cannot answer. */
const needingFloat64 = {
	represent: refuse("representations"),
	scoreTask: refuse("scores"),
	incidence: refuse("risks"),
	incidenceTrajectories: refuse("risks"),
	attributeIncidence: refuse("risks"),
} satisfies Partial<Record<keyof Calls, () => Promise<never>>>;

const handleCall = answerCalls(
	methods,
	(reply: WorkerReply<string>) => scope.postMessage(reply),
	(error) => (error instanceof Error ? error.message : String(error)),
);
scope.onmessage = ({ data }) => handleCall(data);
