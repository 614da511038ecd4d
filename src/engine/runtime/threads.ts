import { Worker } from "node:worker_threads";
import { workerCalls } from "../../base/worker-calls.js";

/** Threads that answer calls, each one after the other. */
export interface Threads {
	/** Calls a method in the thread with the fewest calls to answer. */
	call(method: string, args: readonly unknown[]): Promise<unknown>;
	end(): Promise<void>;
}

/** What a call is rejected with: if its method failed, and if its thread ended. */
interface ThreadErrors<Failure> {
	failed(failure: Failure): Error;
	/** `reason` is an error, or the exit code in words. */
	ended(reason: unknown, method: string): Error;
}

type ThreadWorker = Pick<Worker, "on" | "postMessage" | "terminate">;

/** Threads that start with their first call and, after they have ended, with the next one. */
export function restartingThreads<Failure>(
	count: number,
	begin: () => ThreadWorker,
	errors: ThreadErrors<Failure>,
): Threads {
	const places = Array.from({ length: count }, (_, at) => at);
	/** By place; absent where none was started, or it has ended. */
	const running = new Map<
		number,
		{ readonly worker: ThreadWorker; readonly calls: ReturnType<typeof workerCalls<Failure>> }
	>();
	const waitingAt = (place: number) => running.get(place)?.calls.pending ?? 0;
	const startAt = (place: number) => {
		const worker = begin();
		const calls = workerCalls((call) => worker.postMessage(call), errors.failed);
		const ended = (reason: unknown) => {
			if (running.get(place)?.worker === worker) running.delete(place);
			calls.end((method) => errors.ended(reason, method));
		};
		worker.on("message", calls.receive);
		worker.on("error", ended);
		worker.on("exit", (code) => ended(`exit ${code}`));
		running.set(place, { worker, calls });
		return calls;
	};
	return {
		call(method, args) {
			const idlest = places.reduce((least, place) =>
				waitingAt(place) < waitingAt(least) ? place : least,
			);
			return (running.get(idlest)?.calls ?? startAt(idlest)).call(method, args);
		},
		async end() {
			for (const { worker } of running.values()) await worker.terminate();
		},
	};
}

/** The same from a file that answers calls with `answerCalls`. Errors name what the threads do. */
export const startThreads = (
	file: URL,
	{ count, workerData, work }: { count: number; workerData: unknown; work: string },
): Threads =>
	restartingThreads(count, () => new Worker(file, { workerData }), {
		failed: (message: string) => new Error(message),
		ended: (reason) => new Error(`a thread that ${work} has ended: ${reason}`),
	});
