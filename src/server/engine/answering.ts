import { InputError } from "../../base/errors.js";
import type { ViewedHistory } from "../../infer/index.js";
import { modelById, type Predictor } from "../../models/index.js";
import type { Runtime } from "../../runtime/index.js";
import { nodeRuntime } from "../../runtime/node.js";
import { failureOf } from "./call-failed.js";
import type { Engine, ModelParts } from "./engine.js";
import { forecastWriter } from "./forecast.js";
import { representer } from "./representer.js";
import { riskWriter } from "./risk.js";

/** The calls that take time. */
const methods = [
	"observe",
	"ask",
	"advance",
	"score",
	"queryWithin",
	"represent",
	"forecast",
	"risk",
] as const;
export type Method = (typeof methods)[number];

/** By its name, wherever it is answered. */
export type Caller = (method: Method, args: readonly unknown[]) => Promise<unknown>;

export const calling = (call: Caller): Pick<Predictor & Engine, Method> =>
	Object.fromEntries(
		methods.map((method) => [method, (...args: readonly unknown[]) => call(method, args)]),
	) as unknown as Pick<Predictor & Engine, Method>;

/** A model that answers in the thread it was made in, and blocks it meanwhile. */
export interface Answering {
	/** For what takes no time; the calls are made by `call`. */
	readonly predictor: Predictor;
	/** Fails with an `InputError` or a `CallFailed`. */
	readonly call: Caller;
	dispose(): Promise<void>;
}

/**
 * Sizes stay open where the model can leave them so. Such programs are about as fast as those of one size,
 * and a history of another length needs no other program: of preset paper, one takes 0.4 s to compile, ten
 * times as long as a forecast, and programs that come and go leave the heap in pieces.
 */
export const serviceRuntime = (threads: number): Runtime => ({
	...nodeRuntime({ threads, purpose: "inference", target: "portable" }),
	opensSizes: true,
});

export function answering(
	{ model: id, config, weights, tokens }: ModelParts,
	runtime: Runtime = serviceRuntime(1),
): Answering {
	const model = modelById(id);
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
		forecast: forecastWriter(predictor, tokens),
		risk: riskWriter(predictor),
	};
	return {
		predictor,
		async call(method, args) {
			try {
				return await called[method](...(args as never[]));
			} catch (error) {
				throw error instanceof InputError ? error : failureOf(method, error);
			}
		},
		async dispose() {
			await vectors.dispose();
			await predictor.dispose();
		},
	};
}
