import type * as Ort from "onnxruntime-web";
import { input, toOnnx } from "../tensor/index.js";
import { compileProgram, cpuResident, type Engine, gpuResident } from "./engine.js";
import type { Runtime } from "./runtime.js";
import { checkBrowser, type WebDevice } from "./web-device.js";

export interface WebRuntimeOptions {
	readonly device?: WebDevice;
	/** Threads of WebAssembly. Default: as many as available, at most 4. */
	readonly threads?: number;
	/** The folder of the engine's files, as a URL that ends in a slash. */
	readonly files?: string;
	/** The engine's WebAssembly, if it was read already. */
	readonly wasm?: Promise<ArrayBuffer | undefined> | undefined;
}

/** Threads share memory, which browsers allow only on cross-origin isolated pages. More than 4 gain little. */
const mostThreads = 4;

interface Browser {
	readonly crossOriginIsolated?: boolean;
	readonly navigator?: { readonly hardwareConcurrency?: number };
}

function threadsOf(requested: number | undefined): number {
	const { crossOriginIsolated, navigator } = globalThis as Browser;
	// Outside a browser there is no isolation, and memory can be shared.
	const shared = crossOriginIsolated ?? typeof SharedArrayBuffer !== "undefined";
	const most = requested ?? Math.min(mostThreads, navigator?.hardwareConcurrency ?? 1);
	return shared ? Math.max(1, most) : 1;
}

const engines: Readonly<Record<WebDevice, () => Promise<typeof Ort>>> = {
	wasm: () => import("onnxruntime-web"),
	webgpu: () => import("onnxruntime-web/webgpu"),
};

const smallestModel = () => toOnnx({ outputs: { y: input("x", [1]).add(1) } }, "portable");

/** ONNX Runtime in a browser. */
export async function webRuntime(options: WebRuntimeOptions = {}): Promise<Runtime> {
	const { device = "wasm", files } = options;
	await checkBrowser(device);
	const ort = await engines[device]();
	const threads = threadsOf(options.threads);
	ort.env.wasm.numThreads = threads;
	ort.env.logLevel = "error";
	if (files !== undefined) ort.env.wasm.wasmPaths = files;
	const bytes = await options.wasm;
	if (bytes) ort.env.wasm.wasmBinary = bytes;
	const engine: Engine = {
		Tensor: ort.Tensor,
		InferenceSession: ort.InferenceSession,
		makesOutputs: true,
	};
	const onGpu = device === "webgpu";
	const sessionOptions: Ort.InferenceSession.SessionOptions = {
		executionProviders: [device],
		// In WebAssembly, optimization gains nothing and takes longer than a run; and the memory plan of
		// sequential execution takes a second where sizes are open.
		...(onGpu
			? { graphOptimizationLevel: "all" }
			: { graphOptimizationLevel: "disabled", executionMode: "parallel" }),
		enableMemPattern: false,
		logSeverityLevel: 3,
		extra: { session: { set_denormal_as_zero: "1" } },
	};
	// The engine loads its WebAssembly with the first session. A session that fails again says why.
	if (!onGpu)
		ort.InferenceSession.create(smallestModel().bytes, sessionOptions)
			.then((session) => session.release())
			.catch(() => {});
	const version = ort.env.versions.web ?? ort.env.versions.common;
	return {
		label: `onnxruntime-web ${version}, ${device}, ${threads} thread${threads === 1 ? "" : "s"}`,
		// WebAssembly also runs the kernels of the CPU build, but 200 events take a seventh longer.
		target: "portable",
		opensSizes: !onGpu,
		resident: (values) =>
			onGpu ? gpuResident(engine, sessionOptions, values) : cpuResident(engine, values),
		compile: (graph) =>
			compileProgram(
				engine,
				toOnnx(graph, "portable", { startsFast: !onGpu }),
				sessionOptions,
				onGpu ? "gpu-buffer" : "cpu",
			),
	};
}
