// Stands for onnxruntime-node.ts in tests: see vitest.config.ts.
import { join, relative } from "node:path";
import { expect } from "vitest";
import { InferenceSession as Own } from "../onnxruntime-node.js";

export * from "../onnxruntime-node.js";

/** Tests of the engine, and of every model on it: sessions are those of a user. */
const engine = /^(engine|predict|model\/train)\/|^model\/.*\/conformance\.test\.ts$/;

const source = join(import.meta.dirname, "..", "..", "..");

type Options = NonNullable<Parameters<typeof Own.create>[1]>;

/**
 * The other tests open many sessions and compute little: theirs are not optimized, so that they open three times as
 * fast, and their idle threads leave the cores to others.
 */
export const InferenceSession = {
	create: (model: Uint8Array, options: Options = {}) => {
		const file = relative(source, expect.getState().testPath as string);
		if (engine.test(file)) return Own.create(model, options);
		const { session } = options.extra as { readonly session: object };
		return Own.create(model, {
			...options,
			graphOptimizationLevel: "disabled",
			extra: { session: { ...session, intra_op: { allow_spinning: "0" } } },
		});
	},
};
