import { parentPort, workerData } from "node:worker_threads";
import { InputError } from "../../base/errors.js";
import { answering } from "./answering.js";
import type { Call, Reply, ThreadData } from "./messages.js";

/** A thread that answers, one call after the other. */
const { parts, threads } = workerData as ThreadData;
const model = answering(parts, threads);
const reply = (message: Reply) => parentPort?.postMessage(message);

let turn: Promise<unknown> = Promise.resolve();
parentPort?.on("message", ({ id, method, args }: Call) => {
	turn = turn.then(async () => {
		try {
			reply({ id, value: await model.call(method, args) });
		} catch (error) {
			const refusal = error instanceof Error ? error.message : String(error);
			reply({ id, refusal, isInput: error instanceof InputError });
		}
	});
});
