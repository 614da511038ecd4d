// Stands for onnxruntime-node.ts in tests: see vitest.config.ts.
import { createHash } from "node:crypto";
import { join, relative } from "node:path";
import { expect } from "vitest";
import { InferenceSession as Own } from "../onnxruntime-node.js";

export * from "../onnxruntime-node.js";

/** Tests of the engine, and of every model on it: sessions are those of a user. */
const engine = /^(engine|predict|model\/train)\/|^model\/.*\/conformance\.test\.ts$/;

const source = join(import.meta.dirname, "..", "..", "..");

type Options = NonNullable<Parameters<typeof Own.create>[1]>;

/** Sessions of these graphs, the latest last; nothing that computes changes a session. */
const open = new Map<string, Promise<Own>>();
const mostOpen = 48;

/**
 * The other tests open many sessions and compute little: theirs are not optimized, so that they open three times as
 * fast; their idle threads leave the cores to others; and a graph that was open before opens at once.
 */
export const InferenceSession = {
	create: async (model: Uint8Array, options: Options = {}) => {
		const file = relative(source, expect.getState().testPath as string);
		if (engine.test(file)) return Own.create(model, options);
		const { session } = options.extra as { readonly session: object };
		const quick: Options = {
			...options,
			graphOptimizationLevel: "disabled",
			extra: { session: { ...session, intra_op: { allow_spinning: "0" } } },
		};
		const key = createHash("sha1").update(model).update(JSON.stringify(quick)).digest("hex");
		const opened = open.get(key) ?? Own.create(model, quick);
		open.delete(key);
		open.set(key, opened);
		const [oldest = ""] = open.keys();
		if (open.size > mostOpen) open.delete(oldest);
		const shared: Own = Object.create(await opened, { release: { value: async () => {} } });
		return shared;
	},
};
