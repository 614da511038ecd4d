import { setImmediate, setTimeout } from "node:timers/promises";
import { callsByName } from "../../base/worker-calls.js";
import type { Events } from "../../model/index.js";
import { type Engine, type Method, type ModelCalls, methods } from "./engine/engine.js";
import { Refusal } from "./refusal.js";

/** An address is active until this many ms after its last job. */
const activeMs = 10_000;

/** Jobs in one FIFO queue per address. Addresses take turns, one job each. */
export function fairQueue<Job>(clock: () => number) {
	/** The waiting jobs by address, the address whose turn it is first. */
	const waiting = new Map<string, Job[]>();
	/** When an address last added a job. Inactive addresses are forgotten, as their number has no bound. */
	const addedAt = new Map<string, number>();
	let size = 0;

	function remove(address: string, index: number): void {
		const jobs = waiting.get(address) ?? [];
		jobs.splice(index, 1);
		size--;
		if (jobs.length === 0) waiting.delete(address);
	}

	return {
		get size() {
			return size;
		},
		/** Whether several addresses have jobs, or had some in the last 10 s. */
		isShared(): boolean {
			const now = clock();
			for (const [address, time] of addedAt)
				if (now - time > activeMs && !waiting.has(address)) addedAt.delete(address);
			return addedAt.size > 1;
		},
		add(address: string, job: Job): void {
			addedAt.set(address, clock());
			const jobs = waiting.get(address);
			if (jobs) jobs.push(job);
			else waiting.set(address, [job]);
			size++;
		},
		/** Takes the next job: the oldest of the first address whose oldest job may start. */
		take(mayStart: (job: Job, address: string) => boolean): Job | undefined {
			for (const [address, jobs] of waiting) {
				const job = jobs[0] as Job;
				if (!mayStart(job, address)) continue;
				remove(address, 0);
				if (jobs.length > 0) {
					waiting.delete(address);
					waiting.set(address, jobs);
				}
				return job;
			}
			return undefined;
		},
		/** Told of a job that nobody waits for any more. */
		withdraw(address: string, job: Job): void {
			const index = waiting.get(address)?.indexOf(job) ?? -1;
			if (index >= 0) remove(address, index);
		},
		/** Takes the latest job of the address with the most jobs. */
		takeLatest(): Job | undefined {
			const [longest] = [...waiting].sort(([, a], [, b]) => b.length - a.length);
			const job = longest?.[1].at(-1);
			if (longest) remove(longest[0], longest[1].length - 1);
			return job;
		},
	};
}

/** Calls of more events and query times are long. */
const longWork = 256;
/** Hazards query the model once per bin, of which there are eight unless a run was trained otherwise. */
const queriesPerDay = 8;

const eventsIn = (histories: readonly Pick<Events, "times">[]) =>
	histories.reduce((sum, { times }) => sum + times.length, 0);

/** The events and query times of calls. */
const workOf: { readonly [M in Method]: (...args: Parameters<ModelCalls[M]>) => number } = {
	start: () => 0,
	observe: (_, histories) => eventsIn(histories),
	forecast: ({ of, times }) => times.length + ("history" in of ? of.history.times.length : 0),
	incidence: (histories, _, days) =>
		eventsIn(histories) + queriesPerDay * days.reduce((sum, { length }) => sum + length, 0),
	represent: eventsIn,
	scoreTask: (histories) => 2 * eventsIn(histories) + queriesPerDay * histories.length,
};

type AnyFunction<Result> = (...args: readonly unknown[]) => Result;

interface Call {
	readonly work: number;
	run(): Promise<void>;
	reject(error: unknown): void;
}

/**
 * Decides which of the waiting calls to the model runs next. Every address has one queue, and the addresses
 * take turns: a client delays those of its own address, and others by one call at most.
 *
 * - While several addresses are active, long calls leave one thread free, if there are several. A call
 *   that runs is not interrupted, so a short one would wait for it.
 * - Each call has a pass of its own. Forecasts that share one gain little: preset paper with 112 events
 *   computes 25 per second and thread one by one, 26 in pairs, and a call that just missed a pair waits for both.
 * - If too many wait, the latest of the address with the most calls is refused: the new one, or one that waited.
 */
export function scheduler(
	engine: Engine,
	maxWaiting: number,
	clock: () => number = () => performance.now(),
) {
	const queue = fairQueue<Call>(clock);
	const running = new Set<Call>();
	let started = 0;

	function startCalls(): void {
		while (running.size < engine.width) {
			const longCalls = [...running].filter(({ work }) => work > longWork).length;
			const mayBeLong = longCalls < engine.width - 1 || engine.width === 1 || !queue.isShared();
			const call = queue.take(({ work }) => mayBeLong || work <= longWork);
			if (!call) return;
			running.add(call);
			started++;
			void call.run().finally(async () => {
				// Let this thread process the result before the next call starts: results that queue up here
				// would delay every other request.
				await setImmediate();
				running.delete(call);
				startCalls();
			});
		}
	}

	function schedule(
		address: string,
		signal: AbortSignal,
		work: number,
		run: () => Promise<unknown>,
	): Promise<unknown> {
		return new Promise((resolve, reject) => {
			if (signal.aborted) return reject(signal.reason);
			const leave = () => {
				queue.withdraw(address, call);
				reject(signal.reason);
			};
			const settle =
				<T>(settled: (value: T) => void) =>
				(value: T) => {
					signal.removeEventListener("abort", leave);
					settled(value);
				};
			const call: Call = {
				work,
				run: () => run().then(settle(resolve), settle(reject)),
				reject: settle(reject),
			};
			signal.addEventListener("abort", leave, { once: true });
			queue.add(address, call);
			if (queue.size > maxWaiting)
				queue.takeLatest()?.reject(
					new Refusal(503, `${maxWaiting} calls wait already; try again in a moment`, {
						retry: 1,
					}),
				);
			startCalls();
		});
	}

	return {
		/**
		 * The model, as a request of this address calls it: every call waits until it is scheduled. Once the
		 * signal is aborted, its waiting calls leave the queue and further ones are not made.
		 */
		callsFor: (signal: AbortSignal, address: string): ModelCalls =>
			callsByName<ModelCalls, Method>(methods, (method, args) => {
				const work = (workOf[method] as AnyFunction<number>)(...args);
				const call = engine[method] as AnyFunction<Promise<unknown>>;
				return schedule(address, signal, work, () => call(...args));
			}),
		get waiting() {
			return queue.size;
		},
		get started() {
			return started;
		},
	};
}

/** Steps longer than this many ms make their address pause. */
const shortMs = 2;

/**
 * Shares the thread that reads requests: one step per turn of the event loop, and addresses take turns.
 * While several addresses are active, one whose step was long pauses for as long, so that the thread is free
 * for others half of the time. Hundreds of requests, or long ones, delay only their own address.
 */
export function readingTurns(
	clock: () => number = () => performance.now(),
): (address: string) => Promise<void> {
	const queue = fairQueue<{ readonly address: string; start(): void }>(clock);
	const pausesUntil = new Map<string, number>();
	let isGiving = false;

	async function give(): Promise<void> {
		isGiving = true;
		while (queue.size > 0) {
			const now = clock();
			for (const [address, end] of pausesUntil) if (end <= now) pausesUntil.delete(address);
			const step = queue.take((_, address) => !pausesUntil.has(address));
			if (!step) {
				await setTimeout(1);
				continue;
			}
			step.start();
			await setImmediate();
			const took = clock() - now;
			if (took > shortMs && queue.isShared()) pausesUntil.set(step.address, clock() + took);
		}
		isGiving = false;
	}

	return (address) =>
		new Promise((resolve) => {
			queue.add(address, { address, start: resolve });
			if (!isGiving) void give();
		});
}
