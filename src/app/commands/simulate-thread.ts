import { parentPort } from "node:worker_threads";
import { answerCalls, type WorkerReply } from "../../base/worker-calls.js";
import { type Block, simulateBlock } from "../../data/simulate/index.js";

/** The bytes of a block, which move to the other thread. */
const memoryOf = (reply: WorkerReply<string>): ArrayBuffer[] => {
	if (!("value" in reply)) return [];
	return Object.values((reply.value as Block).lines).map(({ buffer }) => buffer);
};

const answer = answerCalls<string>(
	{ simulate: simulateBlock },
	(reply) => parentPort?.postMessage(reply, memoryOf(reply)),
	(error) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
);
parentPort?.on("message", answer);
