import type { WebDevice } from "../../engine/runtime/web-device.js";

/** A worker is named after the device that it computes on. */
const { name } = globalThis as { readonly name?: string };
// Bundlers would treat new URL("./", import.meta.url) as an asset.
const ownUrl = import.meta.url;
const wasmUrl = `${ownUrl.slice(0, ownUrl.lastIndexOf("/") + 1)}ort/ort-wasm-simd-threaded.wasm`;

/** The engine's WebAssembly, if the worker computes on it; undefined if it cannot be read, which the engine reports. */
export const engineBytes: Promise<ArrayBuffer | undefined> | undefined =
	name === ("wasm" satisfies WebDevice)
		? fetch(wasmUrl).then(
				(response) => (response.ok ? response.arrayBuffer() : undefined),
				() => undefined,
			)
		: undefined;
