import { concatenated } from "../../../base/arrays.js";
import { InputError } from "../../../base/errors.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { modelById } from "../../../model/index.js";
import {
	type HazardModel,
	hazardModel,
	type IncidenceReader,
	incidences,
	type TaskScorer,
	taskScorer,
	type ViewedHistory,
} from "../../../predict/index.js";
import { CallFailed, failureOf } from "./call-failed.js";
import { type Engine, engineThrough, type Method, type ModelParts } from "./engine.js";
import { forecastWriter } from "./forecast.js";
import { representer } from "./representer.js";

/**
 * Compiles programs for any history length where the model supports it. They are about as fast as programs
 * for one length. With preset paper, compiling takes 0.4 s, ten times as long as a forecast, and compiling
 * per length fragments the heap. The memory of a run is freed after it: clients choose the sizes, and each program
 * of each thread would keep that of the largest.
 */
export const serviceRuntime = (threads: number): Runtime => ({
	...nodeRuntime({ threads, purpose: "inference", target: "portable", arenas: false }),
	opensSizes: true,
});

/** A model that runs in the current thread, and blocks it. */
export function localEngine(
	{ model: id, config, weights, tokens, task }: ModelParts,
	runtime: Runtime = serviceRuntime(1),
): Engine {
	const model = modelById(id);
	const predictor = model.predictor(runtime, config, weights);
	const vectors = representer(runtime, model, config, weights);
	const represent = async (histories: readonly ViewedHistory[]) => {
		const rows: Float32Array[] = [];
		for (const history of histories) rows.push(await vectors.represent(history));
		return concatenated(rows);
	};
	let opened: HazardModel | undefined;
	/** Built by the first request that needs them; a model without hazards is refused. */
	const hazards = () => {
		opened ??= hazardModel(runtime, { model, config, weights });
		return opened;
	};
	let scorer: TaskScorer | undefined;
	const scoreTask = async (histories: readonly ViewedHistory[]) => {
		if (!task) throw new Error("the model has no task to score");
		scorer ??= taskScorer(runtime, { model, config, weights }, task);
		return scorer.probabilities(histories);
	};
	const methods: Record<Method, (...args: never[]) => Promise<unknown>> = {
		...predictor,
		represent,
		forecast: forecastWriter(predictor, tokens),
		incidence: async (...query: Parameters<IncidenceReader>) => incidences(hazards(), ...query),
		scoreTask,
	};
	const call = async (method: Method, args: readonly unknown[]) => {
		try {
			return await methods[method](...(args as never[]));
		} catch (error) {
			throw error instanceof InputError ? error : new CallFailed(failureOf(error, method));
		}
	};
	return engineThrough(call, {
		width: 1,
		predictor,
		async dispose() {
			await opened?.dispose();
			await scorer?.dispose();
			await vectors.dispose();
			await predictor.dispose();
		},
	});
}
