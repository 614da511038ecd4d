import { parentPort, workerData } from "node:worker_threads";
import { answerCalls, type WorkerCall, type WorkerReply } from "../../../base/worker-calls.js";
import { type Failure, failureOf, localEngine, type ModelParts } from "./engine.js";

/** JSON is transferred, not copied. */
const buffersIn = (reply: WorkerReply<Failure>): ArrayBuffer[] =>
	"value" in reply && reply.value instanceof Uint8Array ? [reply.value.buffer as ArrayBuffer] : [];

const handleCall = answerCalls(
	localEngine(workerData as ModelParts),
	(reply) => parentPort?.postMessage(reply, buffersIn(reply)),
	failureOf,
);
parentPort?.on("message", (call: WorkerCall) => handleCall(call));
