import { Worker } from "node:worker_threads";
import { workerCalls } from "../../../base/worker-calls.js";
import { type Engine, engineThrough, type Method, type ModelParts } from "./engine.js";
import { CallFailed, type Failure, failureOf, ThreadEnded } from "./failures.js";

type Begin = (parts: ModelParts) => Pick<Worker, "on" | "postMessage" | "terminate">;

const beginThread: Begin = (workerData) =>
	new Worker(new URL("./thread.js", import.meta.url), { workerData });

/** One thread; if it dies, the next call restarts it. */
function thread(parts: ModelParts, begin: Begin) {
	const started = () => {
		const worker = begin(parts);
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

/**
 * A model in several single-threaded workers. Many small computations in parallel are more efficient than
 * one that is spread over all cores, and a request waits only for its own calls.
 */
export function threadEngine(parts: ModelParts, count: number, begin = beginThread): Engine {
	const threads = Array.from({ length: count }, () => thread(parts, begin));
	const call = (method: Method, args: readonly unknown[]) =>
		threads.reduce((idlest, next) => (next.busy < idlest.busy ? next : idlest)).call(method, args);
	return engineThrough(call, {
		width: count,
		async dispose() {
			for (const { end } of threads) await end();
		},
	});
}
