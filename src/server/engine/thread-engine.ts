import { Worker } from "node:worker_threads";
import { modelById } from "../../models/index.js";
import type { Runtime } from "../../runtime/index.js";
import { type Caller, calling, type Method } from "./answering.js";
import { framesOf, kindOf, ThreadEnded } from "./call-failed.js";
import type { Engine, ModelParts } from "./engine.js";
import { type Call, errorIn, type Reply, type ThreadData } from "./messages.js";

interface Pending {
	readonly method: Method;
	resolve(value: unknown): void;
	reject(error: Error): void;
}

type Begin = (data: ThreadData) => Pick<Worker, "on" | "postMessage" | "terminate">;

const beginThread: Begin = (workerData) =>
	new Worker(new URL("./thread.js", import.meta.url), { workerData });

/** One thread, begun anew at the next call where it has died. */
function thread(data: ThreadData, beginOne: Begin) {
	let worker: ReturnType<Begin> | undefined;
	let nextId = 0;
	const pending = new Map<number, Pending>();
	const begin = () => {
		const own = beginOne(data);
		own.on("message", (reply: Reply) => {
			const waiting = pending.get(reply.id);
			pending.delete(reply.id);
			if ("value" in reply) waiting?.resolve(reply.value);
			else waiting?.reject(errorIn(reply));
		});
		const ended = (kind: string, where: readonly string[]) => {
			if (worker !== own) return;
			worker = undefined;
			const left = [...pending.values()];
			pending.clear();
			for (const { method, reject } of left) reject(new ThreadEnded(method, kind, where));
		};
		own.on("error", (error) => ended(kindOf(error), framesOf(error)));
		own.on("exit", (code) => ended(`exit ${code}`, []));
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
				pending.set(id, { method, resolve, reject });
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
export function threadEngine(parts: ModelParts, count: number, begin = beginThread): Engine {
	const threads = Array.from({ length: count }, () => thread({ parts, threads: 1 }, begin));
	const call: Caller = (method, args) =>
		threads.reduce((least, own) => (own.busy < least.busy ? own : least)).call(method, args);
	const here = modelById(parts.model).predictor(idleRuntime, parts.config, parts.weights);
	const { represent, forecast, risk, ...asked } = calling(call);
	const dispose = async () => {
		for (const own of threads) await own.end();
	};
	return {
		width: count,
		predictor: { ...here, ...asked, dispose },
		represent,
		forecast,
		risk,
		dispose,
	};
}
