// Loaded before the command line (node --import), for short processes: sessions are not optimized, as those of
// quick-onnxruntime.ts, and code must run longer than usual before V8 optimizes it.
import Module from "node:module";
import { setFlagsFromString } from "node:v8";

setFlagsFromString("--interrupt-budget=1000000");

const loader = /** @type {{ _load(name: string, ...more: unknown[]): any }} */ (
	/** @type {unknown} */ (Module)
);
const load = loader._load;
loader._load = (/** @type {string} */ name, /** @type {unknown[]} */ ...more) => {
	const loaded = load.call(Module, name, ...more);
	if (name === "onnxruntime-common") {
		loader._load = load;
		const { create } = loaded.InferenceSession;
		loaded.InferenceSession.create = (
			/** @type {Uint8Array} */ model,
			/** @type {object} */ options,
		) => create(model, { ...options, graphOptimizationLevel: "disabled" });
	}
	return loaded;
};
