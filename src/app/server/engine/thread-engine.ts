import { Worker } from "node:worker_threads";
import { workerCalls } from "../../../base/worker-calls.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { modelById } from "../../../model/index.js";
import { CallFailed, type Failure, failureOf, ThreadEnded } from "./call-failed.js";
import {
	type Engine,
	engineThrough,
	type Method,
	type ModelParts,
	type ThreadData,
} from "./engine.js";

type Begin = (data: ThreadData) => Pick<Worker, "on" | "postMessage" | "terminate">;

const beginThread: Begin = (workerData) =>
	new Worker(new URL("./thread.js", import.meta.url), { workerData });

/** One thread; if it dies, the next call restarts it. */
function thread(data: ThreadData, begin: Begin) {
	const started = () => {
		const worker = begin(data);
		const calls = workerCalls(
			(call) => worker.postMessage(call),
			(failure: Failure) => new CallFailed(failure),
		);
		const ended = (failure: Omit<Failure, "operation">) => {
			if (running?.worker === worker) running = undefined;
			calls.end((operation) => new ThreadEnded({ ...failure, operation }));
		};
		worker.on("message", calls.receive);
		worker.on("error", (error) => ended(failureOf(error)));
		worker.on("exit", (code) => ended({ error: `exit ${code}`, where: [] }));
		return { worker, calls };
	};
	let running: ReturnType<typeof started> | undefined;
	return {
		get busy() {
			return running?.calls.pending ?? 0;
		},
		call(method: Method, args: readonly unknown[]): Promise<unknown> {
			running ??= started();
			return running.calls.call(method, args);
		},
		end: async () => {
			await running?.worker.terminate();
		},
	};
}

/** For calls without computation: initial states, selecting patients. */
const idleRuntime: Runtime = {
	label: "none",
	target: "cpu",
	compile: () => Promise.reject(new Error("this runtime runs nothing")),
	resident: () => ({ read: async () => new Map(), dispose: () => {} }),
};

/**
 * A model in several single-threaded workers. Many small computations in parallel are more efficient than
 * one that is spread over all cores, and a request waits only for its own calls.
 */
export function threadEngine(parts: ModelParts, count: number, begin = beginThread): Engine {
	const threads = Array.from({ length: count }, () => thread({ parts, threads: 1 }, begin));
	const call = (method: Method, args: readonly unknown[]) =>
		threads.reduce((least, own) => (own.busy < least.busy ? own : least)).call(method, args);
	return engineThrough(call, {
		width: count,
		predictor: modelById(parts.model).predictor(idleRuntime, parts.config, parts.weights),
		async dispose() {
			for (const own of threads) await own.end();
		},
	});
}
