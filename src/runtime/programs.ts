import type { OnnxModel } from "../graph/index.js";
import type { Program, Runtime } from "./runtime.js";

/** Programs compiled on first use, one a key: shapes are static, so each shape has its own. */
export interface Programs<K> {
	get(key: K): Promise<Program>;
	dispose(): Promise<void>;
}

export function programs<K>(
	runtime: Runtime,
	build: (key: K) => OnnxModel,
	keyText: (key: K) => string = String,
): Programs<K> {
	const compiled = new Map<string, Promise<Program>>();
	return {
		get(key) {
			const text = keyText(key);
			let program = compiled.get(text);
			if (!program) {
				program = runtime.compile(build(key));
				compiled.set(text, program);
			}
			return program;
		},
		async dispose() {
			const all = [...compiled.values()];
			compiled.clear();
			for (const program of all) await (await program).dispose();
		},
	};
}
