import type * as Ort from "onnxruntime-web";
import { InputError } from "../base/errors.js";
import { toOnnx } from "../graph/index.js";
import { compileProgram, cpuResident, type Engine, gpuResident } from "./engine.js";
import type { Runtime } from "./runtime.js";

/** Where a browser computes: on its processor, or on a GPU through WebGPU. */
export const webDevices = ["wasm", "webgpu"] as const;
export type WebDevice = (typeof webDevices)[number];

export interface WebRuntimeOptions {
	readonly device?: WebDevice;
	/** Of WebAssembly; as many as may be used if left out. */
	readonly threads?: number;
	/** The folder of the engine's own files, as a URL that ends in a slash. */
	readonly files?: string;
}

/** Threads share memory, which browsers allow on pages isolated from other origins alone. More than 4 gain little. */
const mostThreads = 4;

interface Browser {
	readonly crossOriginIsolated?: boolean;
	readonly navigator?: {
		readonly hardwareConcurrency?: number;
		readonly gpu?: { requestAdapter(): Promise<unknown> };
	};
	readonly WebAssembly?: { validate(bytes: Uint8Array): boolean };
}

function threadsOf(asked: number | undefined): number {
	const { crossOriginIsolated, navigator } = globalThis as Browser;
	// Outside a browser nothing is isolated, and memory is shared.
	const shared = crossOriginIsolated ?? typeof SharedArrayBuffer !== "undefined";
	const most = asked ?? Math.min(mostThreads, navigator?.hardwareConcurrency ?? 1);
	return shared ? Math.max(1, most) : 1;
}

/** A function of one vector: what lacks the instructions takes it for damaged. */
const simdModule = Uint8Array.of(
	...[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0],
	...[253, 15, 253, 98, 11],
);

/** Refuses a browser that cannot run the engine, in words. */
export async function checkBrowser(device: WebDevice = "wasm"): Promise<void> {
	const { navigator, WebAssembly } = globalThis as Browser;
	if (!WebAssembly?.validate(simdModule))
		throw new InputError(
			"this browser has no WebAssembly with SIMD, which the model needs; use one of 2021 or later (Chrome 91, Firefox 89, Safari 16.4), or allow WebAssembly where it was turned off",
		);
	if (device !== "webgpu") return;
	// Browsers that have WebGPU may still find nothing to run it on.
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
		// In WebAssembly what more is optimized gains nothing and compiles longer; and a plan of which
		// results share memory, made for sequential execution alone, takes a second where sizes are open.
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
		// In WebAssembly what is meant for the CPU alone runs too, but 200 events take a seventh longer.
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
