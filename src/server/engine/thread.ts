import { parentPort, workerData } from "node:worker_threads";
import { answering, serviceRuntime } from "./answering.js";
import { type Call, errorReply, type Reply, type ThreadData } from "./messages.js";

/** A thread that answers, one call after the other. */
const { parts, threads } = workerData as ThreadData;
const model = answering(parts, serviceRuntime(threads));
const reply = (message: Reply) => parentPort?.postMessage(message);

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
