import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type WorkerCall, type WorkerReply } from "../../../base/worker-calls.js";
import { type Failure, failureOf } from "./call-failed.js";
import type { ThreadData } from "./engine.js";
import { localEngine, serviceRuntime } from "./local-engine.js";

/** A worker thread that runs calls one after the other. */
const { parts, threads } = workerData as ThreadData;
const { predictor, ...engine } = localEngine(parts, serviceRuntime(threads));

/** Pieces of JSON are transferred, not copied. */
const ownBuffers = (reply: WorkerReply<Failure>): ArrayBuffer[] =>
	"value" in reply ? piecesIn(reply.value).map(({ buffer }) => buffer as ArrayBuffer) : [];

const piecesIn = (value: unknown): Uint8Array[] => {
	if (value instanceof Uint8Array) return [value];
	const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype;
	return isPlain ? Object.values(value as object).flatMap(piecesIn) : [];
};

const handleCall = answerCalls(
	{ ...engine, ...predictor },
	(reply) => parentPort?.postMessage(reply, ownBuffers(reply)),
	failureOf,
);
parentPort?.on("message", (call: WorkerCall) => handleCall(call));
