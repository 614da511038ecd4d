import type { ViewedHistory } from "../../infer/index.js";
import { modelById, type Predictor } from "../../models/index.js";
import { nodeRuntime } from "../../runtime/node.js";
import type { ModelParts } from "./engine.js";
import { representer } from "./representer.js";

/** The calls that take time. */
export const methods = ["observe", "ask", "advance", "score", "along", "represent"] as const;
export type Method = (typeof methods)[number];

/** A model that answers in the thread it was made in, and blocks it meanwhile. */
export interface Answering {
	readonly predictor: Predictor;
	represent(histories: readonly ViewedHistory[]): Promise<Float32Array>;
	call(method: Method, args: readonly unknown[]): Promise<unknown>;
	dispose(): Promise<void>;
}

export function answering({ model: id, config, weights }: ModelParts, threads: number): Answering {
	const model = modelById(id);
	const runtime = nodeRuntime({ threads, purpose: "inference" });
	const predictor = model.predictor(runtime, config, weights);
	const vectors = representer(runtime, model, config, weights);
	const represent = async (histories: readonly ViewedHistory[]) => {
		const rows: Float32Array[] = [];
		for (const history of histories) rows.push(await vectors.represent(history));
		const all = new Float32Array(rows.reduce((sum, { length }) => sum + length, 0));
		let at = 0;
		for (const row of rows) {
			all.set(row, at);
			at += row.length;
		}
		return all;
	};
	const called: Record<Method, (...args: never[]) => Promise<unknown>> = {
		...predictor,
		represent,
	};
	return {
		predictor,
		represent,
		call: (method, args) => called[method](...(args as never[])),
		async dispose() {
			await vectors.dispose();
			await predictor.dispose();
		},
	};
}
