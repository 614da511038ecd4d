import { parentPort, workerData } from "node:worker_threads";
import { answering, serviceRuntime } from "./answering.js";
import { type Call, errorReply, type Reply, type ThreadData } from "./messages.js";

/** A thread that answers, one call after the other. */
const { parts, threads } = workerData as ThreadData;
const model = answering(parts, serviceRuntime(threads));
const reply = (message: Reply) => parentPort?.postMessage(message, ownBuffers(message));

/** Pieces of JSON are handed over, not copied. */
const ownBuffers = (message: Reply): ArrayBuffer[] =>
	"value" in message ? piecesIn(message.value).map(({ buffer }) => buffer as ArrayBuffer) : [];

const piecesIn = (value: unknown): Uint8Array[] => {
	if (value instanceof Uint8Array) return [value];
	const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype;
	return isPlain ? Object.values(value as object).flatMap(piecesIn) : [];
};

let turn: Promise<unknown> = Promise.resolve();
parentPort?.on("message", (call: Call) => {
	turn = turn.then(async () => {
		try {
			reply({ id: call.id, value: await model.call(call.method, call.args) });
		} catch (error) {
			reply(errorReply(call, error));
		}
	});
});
