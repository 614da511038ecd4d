import { Worker } from "node:worker_threads";
import { InputError } from "../../base/errors.js";
import { modelById, type Predictor } from "../../models/index.js";
import type { Runtime } from "../../runtime/index.js";
import { type Method, methods } from "./answering.js";
import type { Engine, ModelParts } from "./engine.js";
import type { Call, Reply, ThreadData } from "./messages.js";

/** A thread has ended that should have answered. */
export class ThreadEnded extends Error {
	override readonly name = "ThreadEnded";
}

interface Pending {
	resolve(value: unknown): void;
	reject(error: Error): void;
}

/** One thread, begun anew at the next call where it has died. */
function thread(data: ThreadData) {
	let worker: Worker | undefined;
	let nextId = 0;
	const pending = new Map<number, Pending>();
	const begin = () => {
		const own = new Worker(new URL("./thread.js", import.meta.url), { workerData: data });
		own.on("message", (reply: Reply) => {
			const waiting = pending.get(reply.id);
			pending.delete(reply.id);
			if ("value" in reply) waiting?.resolve(reply.value);
			else
				waiting?.reject(reply.isInput ? new InputError(reply.refusal) : new Error(reply.refusal));
		});
		const ended = () => {
			if (worker !== own) return;
			worker = undefined;
			const left = [...pending.values()];
			pending.clear();
			for (const { reject } of left) reject(new ThreadEnded("the thread that answers has ended"));
		};
		own.on("error", ended);
		own.on("exit", ended);
		return own;
	};
	return {
		get busy() {
			return pending.size;
		},
		call(method: Method, args: readonly unknown[]): Promise<unknown> {
			worker ??= begin();
			const id = nextId++;
			return new Promise((resolve, reject) => {
				pending.set(id, { resolve, reject });
				worker?.postMessage({ id, method, args } satisfies Call);
			});
		},
		end: async () => {
			await worker?.terminate();
		},
	};
}

/** For what is done without computing: a state that nothing has happened to, the choice of patients. */
const idleRuntime: Runtime = {
	label: "none",
	target: "cpu",
	compile: () => Promise.reject(new Error("this runtime runs nothing")),
	resident: () => ({ read: async () => new Map(), dispose: () => {} }),
};

/**
 * A model in so many threads, each computing alone: whoever asks waits, and nobody else does. Many
 * small computations side by side lose less than one that is spread over all cores.
 */
export function threadEngine(parts: ModelParts, count: number): Engine {
	const threads = Array.from({ length: count }, () => thread({ parts, threads: 1 }));
	const call = (method: Method, args: readonly unknown[]) =>
		threads.reduce((least, own) => (own.busy < least.busy ? own : least)).call(method, args);
	const here = modelById(parts.model).predictor(idleRuntime, parts.config, parts.weights);
	const there = Object.fromEntries(
		methods.map((method) => [method, (...args: readonly unknown[]) => call(method, args)]),
	) as unknown as Predictor & Pick<Engine, "represent">;
	const dispose = async () => {
		for (const own of threads) await own.end();
	};
	return {
		width: count,
		predictor: { ...here, ...there, dispose },
		represent: there.represent,
		dispose,
	};
}
