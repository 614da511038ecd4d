// Stands for onnxruntime-node.ts in tests that open many sessions and compute little: see vitest.config.ts.
import { InferenceSession as Own } from "../onnxruntime-node.js";

export * from "../onnxruntime-node.js";

type Options = NonNullable<Parameters<typeof Own.create>[1]>;

/** Sessions that are not optimized, and whose idle threads leave the cores to others. */
export const InferenceSession = {
	create: (model: Uint8Array, { extra, ...options }: Options) => {
		const { session } = extra as { readonly session: object };
		return Own.create(model, {
			...options,
			graphOptimizationLevel: "disabled",
			extra: { session: { ...session, intra_op: { allow_spinning: "0" } } },
		});
	},
};
