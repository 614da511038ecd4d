import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type WorkerCall } from "../../base/worker-calls.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { type Events, modelById } from "../../model/index.js";
import { type FutureOptions, futureModel } from "../futures.js";
import type { FutureThreadData } from "./futures.js";

const { model, config, weights } = workerData as FutureThreadData;
const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const futures = futureModel(runtime, { model: modelById(model), config, weights });

const answer = answerCalls(
	{
		draw: async (history: Events, indexDay: number, options: FutureOptions) =>
			(await futures.draw([history], [indexDay], options))[0],
	},
	(reply) => parentPort?.postMessage(reply),
	String,
);
parentPort?.on("message", (call: WorkerCall) => answer(call));
