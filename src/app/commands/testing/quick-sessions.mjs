// Loaded before the command line (node --import): its sessions are not optimized, as those of quick-onnxruntime.ts.
import Module from "node:module";

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
