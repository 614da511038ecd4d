import { Worker } from "node:worker_threads";
import { InputError } from "../../../base/errors.js";
import type { TimeAxis } from "../../../base/time.js";
import { type CallByName, callsByName } from "../../../base/worker-calls.js";
import type { Token } from "../../../data/cohort/vocabulary.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { restartingThreads } from "../../../engine/runtime/threads.js";
import { type Events, modelById, type Predictions, type State } from "../../../model/index.js";
import type { Trained } from "../../../model/train/index.js";
import { type Calls, callsOf } from "../../../predict/calls.js";
import { likeliest } from "../../../predict/index.js";
import { momentJson } from "../../../predict/user-input/moments.js";

/** What a thread gets of a model. */
export type ModelParts = ReturnType<typeof partsOf>;

export const partsOf = ({
	model,
	config,
	weights,
	vocabulary: { tokens },
	task,
}: Pick<Trained, "model" | "config" | "weights" | "vocabulary" | "task">) => {
	return { model: model.id, config, weights, tokens, task };
};

/** Queries a history at any times, or a state at times after its last event. */
export interface ForecastQuery {
	readonly of: { readonly history: Events } | { readonly state: State };
	readonly times: readonly number[];
	/** The times as the request gives them. */
	readonly at: readonly (string | number)[];
	readonly top: number;
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/** The calls of a model that the service makes. */
export const methods = [
	"start",
	"observe",
	"forecast",
	"incidence",
	"represent",
	"scoreTask",
] as const;
export type Method = (typeof methods)[number];

export interface ModelCalls extends Pick<Calls, Exclude<Method, "forecast">> {
	/** The forecasts of a response, one per time, as the bytes of a JSON list. */
	forecast(query: ForecastQuery): Promise<Uint8Array>;
}

export interface Engine extends ModelCalls {
	/** Calls that run at the same time. */
	readonly width: number;
	dispose(): Promise<void>;
}

/** An engine that makes its calls through `call`. */
const engineThrough = (
	call: CallByName<Method>,
	rest: Pick<Engine, "width" | "dispose">,
): Engine => ({ ...callsByName<ModelCalls, Method>(methods, call), ...rest });

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
	{ model, tokens, ...parts }: ModelParts,
	runtime: Runtime = serviceRuntime(1),
): Engine {
	const { calls, close } = callsOf(runtime, { ...parts, model: modelById(model) });
	const allCalls = { ...calls, forecast: forecastWriter(calls, tokens) };
	const call = async (method: Method, args: readonly unknown[]) => {
		try {
			return await (allCalls[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
		} catch (error) {
			throw error instanceof InputError ? error : new CallFailed(failureOf(error, method));
		}
	};
	return engineThrough(call, { width: 1, dispose: close });
}

/**
 * Forecasts as the JSON of the response. It is written where the model computes: ranking codes and
 * writing take as long as a small model, and the thread that receives requests must stay free.
 */
function forecastWriter(
	{ predict, query }: Pick<Calls, "predict" | "query">,
	tokens: readonly Token[],
) {
	/** By token: the JSON of a code up to its probability. */
	const codeJson: string[] = [];
	const writeCode = (token: number) => {
		const { code, system, name, category } = tokens[token] as Token;
		return `${JSON.stringify({ code, system, name, category }).slice(0, -1)},"probability":`;
	};
	return async ({ of, times, at, top, birth, axis }: ForecastQuery): Promise<Uint8Array> => {
		const predictions: Predictions & Partial<Awaited<ReturnType<Calls["predict"]>>> =
			"history" in of ? await predict([of.history], [times]) : await query(of.state, [times]);
		const forecasts = times.map((time, index) => {
			const codes = likeliest(predictions, { top, query: index }).map(({ token, probability }) => {
				codeJson[token] ??= writeCode(token);
				return `${codeJson[token]}${probability}}`;
			});
			const moment = {
				at: at[index],
				...momentJson(time, birth, axis),
				place: predictions.places?.[0]?.[index] ?? "after",
			};
			return `${JSON.stringify(moment).slice(0, -1)},"top":[${codes.join(",")}]}`;
		});
		return new TextEncoder().encode(`[${forecasts.join(",")}]`);
	};
}

type Begin = (parts: ModelParts) => Pick<Worker, "on" | "postMessage" | "terminate">;

const beginThread: Begin = (workerData) =>
	new Worker(new URL("./thread.js", import.meta.url), { workerData });

/**
 * A model in several single-threaded workers. Many small computations in parallel are more efficient than
 * one that is spread over all cores, and a request waits only for its own calls. A thread that dies is restarted.
 */
export function threadEngine(parts: ModelParts, count: number, begin = beginThread): Engine {
	const { call, end } = restartingThreads(count, () => begin(parts), {
		failed: (failure: Failure) => new CallFailed(failure),
		ended: (reason, operation) =>
			new ThreadEnded(
				typeof reason === "string"
					? { operation, error: reason, where: [] }
					: failureOf(reason, operation),
			),
	});
	return engineThrough(call, { width: count, dispose: end });
}

/**
 * What is kept of an error: the model call that failed, the kind of error and its stack frames. The message
 * is dropped, as it may hold data of the request.
 */
export interface Failure {
	readonly operation: string | undefined;
	readonly error: string;
	readonly where: readonly string[];
}

export const failureOf = (error: unknown, operation?: string): Failure =>
	error instanceof CallFailed
		? error.failure
		: {
				operation,
				error: error instanceof Error ? error.name : "unknown",
				where: framesOf(error),
			};

export class CallFailed extends Error {
	override readonly name: string = "CallFailed";

	constructor(readonly failure: Failure) {
		super(`${failure.operation} failed with ${failure.error}`);
	}
}

export class ThreadEnded extends CallFailed {
	override readonly name = "ThreadEnded";
}

/** The frames of a stack, without the message before them. */
export function framesOf(error: unknown): string[] {
	const { stack = "", message = "" } = error instanceof Error ? error : {};
	const start = stack.indexOf(message);
	const frames = start < 0 ? "" : stack.slice(start + message.length);
	return frames.split("\n").flatMap((line) => /^\s+(at .*)$/.exec(line)?.[1] ?? []);
}
