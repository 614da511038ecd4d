import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import { startThreads } from "../../engine/runtime/threads.js";
import type { Events, ParameterValues } from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import {
	checkFutureOptions,
	checkSamplesFutures,
	type Future,
	type FutureOptions,
	futureModel,
	futureRules,
} from "../../predict/futures.js";

/** What a thread needs to draw futures. */
export interface FutureThreadData {
	/** The model's id. */
	readonly model: string;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** Futures for which another thread is worth its start. */
const leastPerThread = 100;

/**
 * Futures of a history after an index day. On the CPU each thread draws some of them with a model of its own: many
 * small computations in parallel are faster than one that is spread over all cores, and more threads than cores would
 * only wait. Which thread draws a future makes no difference to it.
 */
export async function drawFutures(
	trained: Trained,
	history: Events,
	indexDay: number,
	options: Omit<FutureOptions, "leftOut" | "repeats"> & ComputeOptions,
): Promise<Future[]> {
	const { threads = threadsOf(trained), provider, precision, ...given } = options;
	const own = { ...given, ...futureRules(trained.vocabulary, trained.manifest.filters.dedup) };
	// Not in threads: a limit is for all futures together, and threads pass errors on as text.
	checkSamplesFutures(trained.model);
	checkFutureOptions(own, 1);
	const most = Math.min(threads, Math.ceil(own.samples / leastPerThread));
	const count = provider === "xla" ? 1 : most;
	if (count > 1) {
		const parts = Array.from({ length: count }, (_, i) => {
			const [from, to] = [i, i + 1].map((n) => Math.floor((n * own.samples) / count));
			return { ...own, firstSample: from as number, samples: (to as number) - (from as number) };
		});
		return (await drawInThreads(trained, history, indexDay, parts)).flat();
	}
	return withRuntime({ threads: 1, provider, precision }, "inference", async (runtime) => {
		const model = futureModel(runtime, trained);
		try {
			const [futures = []] = await model.draw([history], [indexDay], own);
			return futures;
		} finally {
			await model.dispose();
		}
	});
}

async function drawInThreads(
	{ model, config, weights }: Trained,
	{ tokens, times }: Events,
	indexDay: number,
	parts: readonly FutureOptions[],
): Promise<Future[][]> {
	const workerData: FutureThreadData = { model: model.id, config, weights };
	const { call, end } = startThreads(new URL("./future-thread.js", import.meta.url), {
		...{ count: parts.length, workerData, work: "draws futures" },
	});
	try {
		const events = { tokens: Array.from(tokens), times: Array.from(times) };
		return (await Promise.all(
			parts.map((part) => call("draw", [events, indexDay, part])),
		)) as Future[][];
	} finally {
		await end();
	}
}
