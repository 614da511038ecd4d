import { Worker } from "node:worker_threads";
import { workerCalls } from "../../base/worker-calls.js";

/** Threads that answer calls, each one after the other. */
export interface Threads {
	/** Calls a method in the thread with the fewest calls to answer. */
	call(method: string, args: readonly unknown[]): Promise<unknown>;
	end(): Promise<void>;
}

/** Starts threads from a file that answers calls with `answerCalls`. Errors name what the threads do. */
export function startThreads(
	file: URL,
	{ count, workerData, work }: { count: number; workerData: unknown; work: string },
): Threads {
	const threads = Array.from({ length: count }, () => {
		const worker = new Worker(file, { workerData });
		const calls = workerCalls(
			(call) => worker.postMessage(call),
			(message: string) => new Error(message),
		);
		const ended = (reason: string) =>
			calls.end(() => new Error(`a thread that ${work} has ended: ${reason}`));
		worker.on("message", calls.receive);
		worker.on("error", (error) => ended(String(error)));
		worker.on("exit", (code) => ended(`exit ${code}`));
		return { worker, calls };
	});
	return {
		call: (method, args) =>
			threads
				.reduce((least, thread) => (thread.calls.pending < least.calls.pending ? thread : least))
				.calls.call(method, args),
		async end() {
			for (const { worker } of threads) await worker.terminate();
		},
	};
}
