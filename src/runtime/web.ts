import type * as Ort from "onnxruntime-web";
import { InputError } from "../base/errors.js";
import { toOnnx } from "../graph/index.js";
import { compileProgram, cpuResident, type Engine, gpuResident } from "./engine.js";
import type { Runtime } from "./runtime.js";

/** Where a browser computes: on the CPU (WebAssembly), or on a GPU (WebGPU). */
export const webDevices = ["wasm", "webgpu"] as const;
export type WebDevice = (typeof webDevices)[number];

export interface WebRuntimeOptions {
	readonly device?: WebDevice;
	/** Threads of WebAssembly. Default: as many as available, at most 4. */
	readonly threads?: number;
	/** The folder of the engine's files, as a URL that ends in a slash. */
	readonly files?: string;
}

/** Threads share memory, which browsers allow only on cross-origin isolated pages. More than 4 gain little. */
const mostThreads = 4;

interface Browser {
	readonly crossOriginIsolated?: boolean;
	readonly navigator?: {
		readonly hardwareConcurrency?: number;
		readonly gpu?: { requestAdapter(): Promise<unknown> };
	};
	readonly WebAssembly?: { validate(bytes: Uint8Array): boolean };
}

function threadsOf(requested: number | undefined): number {
	const { crossOriginIsolated, navigator } = globalThis as Browser;
	// Outside a browser there is no isolation, and memory can be shared.
	const shared = crossOriginIsolated ?? typeof SharedArrayBuffer !== "undefined";
	const most = requested ?? Math.min(mostThreads, navigator?.hardwareConcurrency ?? 1);
	return shared ? Math.max(1, most) : 1;
}

/** A module with one SIMD instruction; browsers without SIMD reject it as invalid. */
const simdModule = Uint8Array.of(
	...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0],
	...[253, 15, 253, 98, 11],
);

/** Rejects a browser that cannot run the engine, with a message. */
export async function checkBrowser(device: WebDevice = "wasm"): Promise<void> {
	const { navigator, WebAssembly } = globalThis as Browser;
	if (!WebAssembly?.validate(simdModule))
		throw new InputError(
			"this browser has no WebAssembly with SIMD, which the model needs; use one of 2021 or later (Chrome 91, Firefox 89, Safari 16.4), or allow WebAssembly where it was turned off",
		);
	if (device !== "webgpu") return;
	// A browser with WebGPU may still have no adapter.
	const adapter = await navigator?.gpu?.requestAdapter().catch(() => null);
	if (!adapter)
		throw new InputError(
			'this browser has no WebGPU, or no GPU for it; leave out device: "webgpu" to run on WebAssembly',
		);
}

const engines: Readonly<Record<WebDevice, () => Promise<typeof Ort>>> = {
	wasm: () => import("onnxruntime-web"),
	webgpu: () => import("onnxruntime-web/webgpu"),
};

/** ONNX Runtime in a browser. */
export async function webRuntime(options: WebRuntimeOptions = {}): Promise<Runtime> {
	const { device = "wasm", files } = options;
	await checkBrowser(device);
	const ort = await engines[device]();
	const threads = threadsOf(options.threads);
	ort.env.wasm.numThreads = threads;
	ort.env.logLevel = "error";
	if (files !== undefined) ort.env.wasm.wasmPaths = files;
	const engine: Engine = {
		Tensor: ort.Tensor,
		InferenceSession: ort.InferenceSession,
		makesOutputs: true,
	};
	const onGpu = device === "webgpu";
	const sessionOptions: Ort.InferenceSession.SessionOptions = {
		executionProviders: [device],
		// In WebAssembly, more optimization gains nothing and compiles longer; and the memory plan of
		// sequential execution takes a second where sizes are open.
		...(onGpu
			? { graphOptimizationLevel: "all" }
			: { graphOptimizationLevel: "basic", executionMode: "parallel" }),
		enableMemPattern: false,
		logSeverityLevel: 3,
		extra: { session: { set_denormal_as_zero: "1" } },
	};
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
				toOnnx(graph, "portable"),
				sessionOptions,
				onGpu ? "gpu-buffer" : "cpu",
			),
	};
}
