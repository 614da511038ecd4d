import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type WorkerCall, type WorkerReply } from "../../../base/worker-calls.js";
import { localEngine, type ModelParts } from "./engine.js";
import { type Failure, failureOf } from "./failures.js";

/** Pieces of JSON are transferred, not copied. */
const buffersIn = (reply: WorkerReply<Failure>): ArrayBuffer[] =>
	"value" in reply ? arraysIn(reply.value).map(({ buffer }) => buffer as ArrayBuffer) : [];

const arraysIn = (value: unknown): Uint8Array[] => {
	if (value instanceof Uint8Array) return [value];
	const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype;
	return isPlain ? Object.values(value as object).flatMap(arraysIn) : [];
};

/** A worker thread that runs calls one after the other. */
const handleCall = answerCalls(
	localEngine(workerData as ModelParts),
	(reply) => parentPort?.postMessage(reply, buffersIn(reply)),
	failureOf,
);
parentPort?.on("message", (call: WorkerCall) => handleCall(call));
