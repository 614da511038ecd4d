import { InputError } from "../../base/errors.js";

/** Where a browser computes: on the CPU (WebAssembly), or on a GPU (WebGPU). */
export const webDevices = ["wasm", "webgpu"] as const;
export type WebDevice = (typeof webDevices)[number];

interface Browser {
	readonly navigator?: { readonly gpu?: { requestAdapter(): Promise<unknown> } };
	readonly WebAssembly?: { validate(bytes: Uint8Array): boolean };
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
